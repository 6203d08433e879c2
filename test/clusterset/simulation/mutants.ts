/** Deliberate bugs of exports and imports: who is woken, whose word counts, and who may write. */
import { allKinds } from '#shared/kube/types.ts';
import type { WorkKind } from '#shared/kube/work-kinds.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { OutgoingMessage } from '#shared/queue/port.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import type { Item } from '#shared/store/table.ts';
import { withLimits } from '#test/worlds/simulation/faults/profile.ts';
import { crashing, type Mutant } from '#test/worlds/simulation/mutants/mutant.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import type { WorldState } from '#test/worlds/simulation/world/world-state.ts';
import { burning, hostileLimits, type MemberProfile } from './draw.ts';
import { hostileId, hostileName } from './hostile-relay.ts';
import { newField } from './newer-entries.ts';

const everyone: readonly MemberProfile[] = ['b', 'c', 'd'].map((id) => ({
  id,
  exports: true,
  imports: true,
  holdsRanges: true,
}));
const quiet = {
  members: everyone,
  sameness: 'all',
  switches: 0,
  silentMs: 0,
  uninstalls: false,
  restores: false,
  departs: false,
  strays: 0,
  hostile: false,
  refuses: false,
  tenant: false,
  typeChanges: 0,
  newer: false,
  burns: false,
  hubTrouble: 'none',
} as const;
const cluster = {
  ...crashing,
  crashes: 0,
  services: 2,
  pods: 3,
  namespaces: 1,
  changes: 4,
  faultsUntilMs: 40_000,
} as const;

/** A source burns down, and importers are woken for it now and then. */
const burnt = {
  ...quiet,
  ...burning,
  people: 10,
  cluster: { ...cluster, duplicates: 0.2, changes: 12, faultsUntilMs: 500_000 },
} as const;

const isSync = ({ name }: Actor): boolean => name.startsWith('sync-');
/** Is the process one of another cluster's work? */
const isOfAnother = (actor: Actor, { cluster: own }: WorldState): boolean =>
  isSync(actor) && !actor.name.startsWith(`sync-${own}`);
const kindOf = ({ body }: OutgoingMessage): WorkKind => (decodeMessage(body) as WakeUpMessage).kind;

/** Work of other clusters of one kind is never raised and never sent. */
const forgets = (kind: 'export' | 'import'): Pick<Mutant, 'table' | 'queue'> => ({
  table: (table, actor) => ({
    ...table,
    update: async (key, change, condition) =>
      isForeignWork(actor, key.pk, kind) && (change.add?.['gen'] ?? change.set?.['gen']) !== undefined
        ? ((await table.get(key)) ?? { ...key })
        : table.update(key, change, condition),
  }),
  queue: (queue, name, actor, world) =>
    name === 'syncs' && isOfAnother(actor, world)
      ? { send: (messages) => queue.send(messages.filter((m) => kindOf(m) !== kind)) }
      : queue,
});

const isForeignWork = (actor: Actor, pk: string, kind: string): boolean => {
  const [id] = pk.split('#');
  return pk.includes(`#WORK#${kind}#`) && isSync(actor) && !actor.name.startsWith(`sync-${id}`);
};

/** Changes a run's view of other clusters' records. */
const sees = (change: (item: Item, world: WorldState) => Item): Pick<Mutant, 'table'> => ({
  table: (table, actor, world) => ({
    ...table,
    get: async (key) => {
      const item = await table.get(key);
      return item && key.sk === 'META' && isSync(actor) && key.pk !== `CLUSTER#${world.cluster}`
        ? change(item, world)
        : item;
    },
  }),
});

export const setMutants: readonly Mutant[] = [
  {
    name: 'an export wakes no importer',
    mechanism: 'wake-ups of an export',
    seeds: [11, 2],
    set: { ...quiet, cluster },
    ...forgets('import'),
  },
  {
    name: 'an export wakes no other export of its name',
    mechanism: 'wake-ups of an export',
    seeds: [8],
    set: { ...quiet, people: 14, names: 1, cluster },
    ...forgets('export'),
  },
  {
    name: 'a silent source counts as fresh',
    mechanism: 'state of a source',
    seeds: [3, 13],
    set: {
      ...quiet,
      silentMs: 150_000,
      people: 20,
      cluster: { ...cluster, changes: 20, faultsUntilMs: 200_000 },
    },
    ...sees((item, { scheduler }) => ({ ...item, heartbeatAt: scheduler.now })),
  },
  {
    name: 'a source whose history is in doubt counts as fresh',
    mechanism: 'state of a source',
    seeds: [14, 13],
    set: { ...quiet, restores: true, people: 12, cluster: { ...cluster, changes: 20 } },
    ...sees(({ unbound: _, ...item }) => item as Item),
  },
  {
    name: 'sweep forgets the versions that its own lists of a silent source have read',
    mechanism: 'state of a source',
    seeds: [17, 10],
    set: {
      ...quiet,
      ...{ members: everyone.slice(0, 2), silentMs: 240_000, people: 12, restores: true },
      cluster: { ...cluster, pods: 5, changes: 20, faultsUntilMs: 290_000 },
    },
    table: (table, { name }) => ({
      ...table,
      update: async (key, change, condition) =>
        name.startsWith('sweep-') &&
        Object.keys(change.set ?? {}).some((attribute) => attribute.startsWith('high_'))
          ? await table.get(key)
          : table.update(key, change, condition),
    }),
  },
  {
    name: 'a heartbeat is as old as its delivery',
    mechanism: "heartbeat's own time",
    seeds: [66, 40, 207],
    set: burnt,
    sentAt: (_, nowMs) => nowMs,
  },
  {
    name: 'a worker takes the lease of an import that another worker has',
    mechanism: 'lease',
    seeds: [235, 245],
    set: {
      ...quiet,
      people: 12,
      names: 1,
      importBatchSeconds: 0,
      cluster: { ...cluster, slow: 0.3, changes: 12 },
    },
    table: (table) => ({
      ...table,
      update: (key, change, condition) =>
        table.update(
          key,
          change,
          change.set?.['lease'] && key.pk.includes('#WORK#import#') ? undefined : condition,
        ),
    }),
  },
  {
    name: 'an import accepts addresses outside of the source’s ranges',
    mechanism: 'trust between clusters',
    seeds: [3, 2, 1],
    set: { ...quiet, strays: 6, cluster },
    ...sees((item) => ({
      ...item,
      clusterset: String(item['clusterset'])
        .replace(/"podCidrs":\[[^\]]*\],?/, '')
        .replace(/,\}/, '}'),
    })),
  },
  {
    name: 'a namespace takes imports after its label is removed',
    mechanism: 'trust between clusters',
    seeds: [3, 4, 1],
    set: { ...quiet, sameness: 'labelled', people: 20, names: 1, cluster },
    table: (table, actor) => ({
      ...table,
      get: async (key) => {
        const item = await table.get(key);
        return item && key.pk.endsWith('#NSO') && isSync(actor)
          ? { ...item, o: String(item['o']).replace(/,""\]$/, ',"default"]') }
          : item;
      },
    }),
  },
  {
    name: 'the run of an export saves no changed pods',
    mechanism: 'saved pods of an export',
    seeds: [1, 2],
    set: { ...quiet, cluster },
    table: (table) => ({
      ...table,
      put: async (item, condition) =>
        item.pk.includes('#EXPORTED-PODS#') && item['r'] !== 1 ? true : table.put(item, condition),
    }),
  },
  {
    name: 'the names that a cluster exports are not found by cluster',
    mechanism: 'wake-ups of an export',
    seeds: [206, 294, 219],
    set: {
      ...quiet,
      hubTrouble: 'rebuild',
      people: 30,
      names: 2,
      cluster: { ...cluster, faultsUntilMs: 190_000 },
    },
    table: (table) => ({
      ...table,
      query: async (pk, range) => (pk.startsWith('EXPORTED#') ? [] : table.query(pk, range)),
    }),
  },
  {
    name: 'exports that the hub does not know count as gone',
    mechanism: 'state of a source',
    seeds: [2],
    set: {
      ...quiet,
      hubTrouble: 'loss',
      people: 0,
      names: 1,
      cluster: { ...cluster, changes: 0, faultsUntilMs: 170_000 },
    },
    ...sees((item) => ({
      ...item,
      ...Object.fromEntries(allKinds.map((kind) => [`firstList_${kind}`, item['inc'] ?? 1])),
    })),
  },
  {
    name: 'an import deletes its derived Service before the API server has taken the next one in a dry run',
    mechanism: 'dry run of the derived Service',
    seeds: [4],
    set: {
      ...quiet,
      members: everyone.slice(0, 2),
      refuses: 'Service',
      typeChanges: 8,
      people: 0,
      names: 1,
      cluster,
    },
    api: (api) => ({ ...api, dryRunCreate: async () => {} }),
  },
  {
    name: 'an entry with a field of a newer version is left out of the merge',
    mechanism: 'unknown fields of an entry',
    seeds: [1, 5, 6],
    set: { ...quiet, newer: true, cluster },
    table: (table) => ({
      ...table,
      query: async (pk, range) =>
        (await table.query(pk, range)).filter(
          ({ f }) => !pk.startsWith('SET#') || !String(f).includes(newField),
        ),
    }),
  },
  {
    name: 'a name with separators is stored in the set without an escape',
    mechanism: 'trust between clusters',
    seeds: [8, 13],
    set: { ...quiet, hostile: true, names: 1, cluster: { ...cluster, limits: hostileLimits } },
    // A reader that takes the first three parts of the key, and believes the text.
    table: (table) => ({
      ...table,
      put: async (item, condition) => {
        if (item.pk.startsWith('SET#') && item.sk === `${hostileName}1#E#${hostileId}`)
          await table.put({ ...item, sk: unescapedKey });
        return table.put(item, condition);
      },
      query: async (pk, range) =>
        (await table.query(pk, range)).map((item) => (item.sk === unescapedKey ? readUnescaped(item) : item)),
    }),
  },
  {
    name: 'a list of a set’s names reads the text of each export',
    mechanism: 'trust between clusters',
    seeds: [6, 4],
    set: { ...quiet, hostile: true, cluster: { ...cluster, limits: hostileLimits } },
    table: (table) => ({ ...table, query: (pk, { only: _, ...range } = {}) => table.query(pk, range) }),
  },
  {
    name: 'an exporter wakes its importers without a budget',
    mechanism: 'trust between clusters',
    seeds: [6, 5],
    set: {
      ...quiet,
      hostile: true,
      cluster: { ...cluster, limits: withLimits({ sync: { wakesOfCluster: 1e9, wakesOfNamespace: 1e9 } }) },
    },
  },
  {
    name: 'a namespace exports more names than its limit',
    mechanism: 'trust between clusters',
    seeds: [4, 5, 2],
    set: {
      ...quiet,
      tenant: true,
      cluster: { ...cluster, limits: withLimits({ sync: { maxExports: 1e9 } }) },
    },
  },
];

const unescapedKey = `s0#E#b#E#${hostileId}`;
const readUnescaped = (item: Item): Item => ({
  ...item,
  sk: 's0#E#b',
  ...(typeof item['f'] === 'string' && { f: item['f'].replace(`"cluster":"${hostileId}"`, '"cluster":"b"') }),
});
