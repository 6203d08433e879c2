/** Deliberate bugs, put between the code and its ports. The simulation has to find each of them. */
import { deflateRawSync } from 'node:zlib';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { heldAttribute } from '#shared/clusters/relay/first-lists.ts';
import { decodeProjection } from '#shared/kube/projection/projection.ts';
import { kinds, type Pod } from '#shared/kube/types.ts';
import { decodeMessage, encodeMessage } from '#shared/queue/codec.ts';
import type { EventsMessage } from '#shared/queue/messages.ts';
import type { OutgoingMessage } from '#shared/queue/port.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import type { Pods } from '#shared/store/inputs/namespace-pods.ts';
import { objectsOf, outputsOf, parseWorkKey } from '#shared/store/keys.ts';
import { decodeDeltas, encodeDeltas } from '#shared/store/outputs/deltas.ts';
import { checksumOf, savedBodyOf } from '#shared/store/outputs/output-items.ts';
import type { Change, Item, Key, Table } from '#shared/store/table.ts';
import { setMutants } from '#test/clusterset/simulation/mutants.ts';
import { ordinaryLimits } from '#test/worlds/simulation/faults/draw-limits.ts';
import { largeTenant } from '#test/worlds/simulation/faults/large-tenant.ts';
import {
  cluster,
  lyingRelay,
  manyServices,
  withLimits,
  withPageSize,
} from '#test/worlds/simulation/faults/profile.ts';
import { optInMutants } from '#test/worlds/simulation/opt-in/mutants.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import type { WorldState } from '#test/worlds/simulation/world/world-state.ts';
import { explainMutants } from './explain-mutants.ts';
import { faultMutants } from './fault-mutants.ts';
import { inPlaceMutants } from './in-place-mutants.ts';
import { crashing, type Mutant } from './mutant.ts';
import { lateSpeaker } from './relay-mutants.ts';
import { zoneMutants } from './zone-mutants.ts';

const isPod = ({ pk }: Key): boolean => pk.includes('#POD#');
const isObject = ({ pk }: Key): boolean => /#(POD|SVC)#|#NODE$/.test(pk);
const isWork = ({ pk }: Key): boolean => pk.includes('#WORK#');
const is = (role: string, actor: Actor): boolean => actor.name.startsWith(`${role}-`);
const without = (item: Item, attribute: string): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => name !== attribute)) as Item;
const isForLeaseEnd = (m: OutgoingMessage): boolean =>
  (decodeMessage(m.body) as WakeUpMessage).generation === 'latest';

const isRecord = ({ pk }: Key): boolean => pk.includes('#HISTORY#');
const withoutRecord = ({ set: { h: _, ...set } = {}, ...change }: Change): Change => ({ ...change, set });

/** As a call that stalls, and more often. */
const _sometimesLate = <T>(world: WorldState, call: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const ms = world.isOver || !world.random.chance(0.3) ? 0 : world.random.between(2_000, 6_000);
    world.scheduler.after(ms, () => call().then(resolve, reject));
  });

/** By the container's own pods. */
const keptBy = new WeakMap<Pods, Map<string, ReturnType<Pods['podsOf']>>>();

export const mutants: readonly Mutant[] = [
  {
    name: 'the pods of a namespace are read without a bound',
    mechanism: 'bounds of reads',
    seeds: [7, 12, 6, 4, 14, 2, 3],
    profile: { ...crashing, ...largeTenant(ordinaryLimits, 100_000) },
    table: (table) => ({ ...table, query: (pk, { maxBytes: _, ...range } = {}) => table.query(pk, range) }),
  },
  {
    name: 'ingest does not store the former labels of an object',
    mechanism: 'message returns until wake-ups are sent',
    seeds: [106, 35],
    profile: { ...crashing, fateAt: ['put', 'send'] },
    table: (table) => ({
      ...table,
      put: (item, condition) => table.put(isObject(item) ? without(item, 'unnotified') : item, condition),
    }),
  },
  {
    name: 'a redelivered batch sends no wake-ups',
    mechanism: 'message returns until wake-ups are sent',
    seeds: [5, 3, 6],
    profile: crashing,
    table: (table, actor) => ({
      ...table,
      async put(item, condition) {
        const held = await table.put(item, condition);
        if (held && isObject(item)) writers.add(actor);
        return held;
      },
    }),
    queue: (queue, name, actor) =>
      name === 'syncs' && is('ingest', actor)
        ? { send: async (messages) => (writers.has(actor) ? queue.send(messages) : undefined) }
        : queue,
  },
  {
    name: 'ingest clears `unnotified` before it sends the wake-ups',
    mechanism: 'message returns until wake-ups are sent',
    seeds: [103, 140, 96],
    profile: { ...crashing, crashes: 0.5, fateAt: ['send'] },
    ...sendsLate('ingest', (change) => change.remove?.includes('unnotified') ?? false),
  },
  {
    name: 'ingest never sends the wake-ups after first lists',
    mechanism: 'first lists',
    seeds: [15, 8, 5],
    table: (table) => ({
      ...table,
      update: async (key, change, condition) =>
        change.remove?.includes(heldAttribute) ? undefined : table.update(key, change, condition),
    }),
  },
  {
    name: 'sync records a retry before it sends the message',
    mechanism: 'message before record',
    seeds: [16],
    profile: { ...crashing, apiFailures: 0.1, fateAt: ['send'] },
    ...sendsLate('sync', (change) => change.remove?.includes('lease') ?? false),
  },
  {
    name: 'sync drops a wake-up if another worker has the lease',
    mechanism: 'lease-end wake-up',
    seeds: [12, 19],
    profile: { ...crashing, crashes: 0.1, slow: 0.1, namespaces: 1, services: 1, pods: 4, changes: 40 },
    queue: (queue, name) =>
      name === 'syncs'
        ? { send: (messages) => queue.send(messages.filter((m) => !isForLeaseEnd(m))) }
        : queue,
  },
  {
    name: 'a change under a lease raises no generation',
    mechanism: 'generation above done',
    seeds: [23],
    profile: { ...crashing, crashes: 0, slow: 0.1, namespaces: 1, services: 2, changes: 80 },
    table: (table, actor) => ({
      ...table,
      async update(key, change, condition) {
        const item =
          is('ingest', actor) && isWork(key) && change.add?.['gen'] ? await table.get(key) : undefined;
        return item?.['lease'] ? item : table.update(key, change, condition);
      },
    }),
  },
  {
    name: 'a worker takes a lease that another worker has',
    mechanism: 'lease',
    seeds: [22],
    profile: { slow: 0.3, changes: 60, pods: 5 },
    table: (table) => ({
      ...table,
      update: (key, change, condition) =>
        table.update(key, change, change.set?.['lease'] ? undefined : condition),
    }),
  },
  {
    name: 'a worker saves outputs without proof of the lease',
    mechanism: 'lease',
    seeds: [143, 162],
    profile: {
      ...crashing,
      crashes: 0,
      pauses: 0.5,
      fateAt: ['api'],
      namespaces: 1,
      services: 2,
      pods: 3,
      changes: 40,
      faultsUntilMs: 200_000,
      // A run saves each output as a body, because no delta fits.
      limits: withLimits({ sync: { unitBytes: 1 } }),
    },
    table: believesInItsLease,
  },
  {
    name: 'a delta applies to any body',
    mechanism: 'body and delta',
    seeds: [186, 113],
    profile: {
      ...crashing,
      crashes: 0,
      pauses: 0.5,
      fateAt: ['put'],
      ...{ namespaces: 1, services: 1, pods: 8, changes: 160, faultsUntilMs: 300_000 },
      limits: withLimits({ sync: { unitBytes: 250 } }),
    },
    table: appliesToAnyBody,
  },
  {
    name: 'an output saved as metadata counts as empty',
    mechanism: 'body and delta',
    seeds: [4, 3, 2],
    profile: {
      ...crashing,
      crashes: 0,
      namespaces: 1,
      services: 2,
      pods: 4,
      changes: 60,
      limits: withLimits({ sync: { savedBytes: 100 } }),
    },
    table: (table, actor) => ({
      ...table,
      async query(pk, range) {
        const items = await table.query(pk, range);
        const isWrong = is('sync', actor) && pk.includes('#OUT#');
        return isWrong
          ? items.map((i) =>
              i['m'] === undefined ? i : { ...without(i, 'm'), b: deflateRawSync(i['m'] as string) },
            )
          : items;
      },
    }),
  },
  {
    name: 'ingest purges tombstones by age alone',
    mechanism: 'fence and tombstones',
    seeds: [3, 4, 2],
    profile: { ...crashing, crashes: 0, duplicates: 0.5, delayMs: 30_000, changes: 60 },
    begin: (world) => {
      const round = async (): Promise<void> => {
        for (const item of await world.table.items()) {
          const old = typeof item['at'] === 'number' && world.scheduler.now - item['at'] > 3000;
          if (isPod(item) && item['o'] === undefined && old)
            void world.table.delete(item, { absent: 'unnotified' });
        }
        if (world.scheduler.now < world.faultsEnd) world.scheduler.after(1000, () => void round());
      };
      void round();
    },
  },
  {
    name: 'an event older than the newest list restores an object',
    mechanism: 'fence and tombstones',
    seeds: [4, 2, 3],
    profile: { ...crashing, crashes: 0, delayMs: 30_000, duplicates: 0.5, relistMs: 15_000, changes: 60 },
    begin: (world) => {
      // Without a fence nothing keeps a purge from being wrong either.
      const purge = async (): Promise<void> => {
        for (const item of await world.table.items())
          if (isPod(item) && item['o'] === undefined) void world.table.delete(item, { absent: 'unnotified' });
        if (world.scheduler.now < world.faultsEnd) world.scheduler.after(16_000, () => void purge());
      };
      void purge();
    },
    table: (table, actor) => ({
      ...table,
      get: async (key) => (is('ingest', actor) && key.pk.endsWith('#FENCE') ? undefined : table.get(key)),
    }),
  },
  {
    name: 'sync has no mass-removal guard',
    mechanism: 'mass-removal guard',
    seeds: [3, 1],
    profile: {
      ...crashing,
      crashes: 0,
      shrunkenLists: true,
      pods: 14,
      namespaces: 1,
      services: 2,
      relistMs: 15_000,
      changes: 4,
    },
    api: (api, actor) => ({
      ...api,
      list: async (kind, namespace, selector) =>
        is('sync', actor) && kind === 'Pod'
          ? { resourceVersion: '0', items: [] }
          : api.list(kind, namespace, selector),
    }),
  },
  {
    name: 'sync runs before the first lists',
    mechanism: 'first lists',
    seeds: [18, 6],
    profile: { ...crashing, crashes: 0, limits: withPageSize(3), pods: 10, changes: 5 },
    table: (table, actor) => ({
      ...table,
      async get(key) {
        const item = await table.get(key);
        if (!item || key.sk !== 'META' || !is('sync', actor)) return item;
        return { ...item, ...Object.fromEntries(kinds.map((k) => [`firstList_${k}`, item['inc'] ?? 1])) };
      },
    }),
  },
  {
    name: 'sync continues while the identity of the cluster is in doubt',
    mechanism: 'incarnation and unbound sessions',
    seeds: [115, 2],
    profile: { ...crashing, crashes: 0, goesBack: 'restored', pods: 8, changes: 60, batchPeriodSeconds: 30 },
    table: (table, actor) => ({
      ...table,
      async get(key) {
        const item = await table.get(key);
        return item && key.sk === 'META' && is('sync', actor) ? without(item, 'unbound') : item;
      },
    }),
  },
  {
    name: 'a restored cluster keeps its incarnation',
    mechanism: 'incarnation and unbound sessions',
    seeds: [4, 3],
    profile: { ...crashing, crashes: 0, goesBack: 'restored', changes: 40 },
    table: (table, actor) => ({
      ...table,
      async get(key) {
        const item = await table.get(key);
        return item && key.sk === 'META' && is('ingest', actor)
          ? { ...without(item, 'high_Service'), incSince: Number.MAX_SAFE_INTEGER }
          : item;
      },
    }),
  },
  {
    name: 'sync reads the mode from a cache',
    mechanism: 'strong reads',
    seeds: [3, 11],
    profile: { ...crashing, crashes: 0, modeSwitches: 2, changes: 60 },
    table: (table, actor, world) => ({
      ...table,
      get: (key) =>
        is('sync', actor) && key.sk === 'META' ? stale(world, table, key, 5000) : table.get(key),
    }),
  },
  {
    name: 'ingest reads selectors with eventual consistency',
    mechanism: 'strong reads',
    seeds: [6, 16],
    // Changes so close together that a pod follows its Service within the age of the read.
    profile: {
      ...crashing,
      crashes: 0,
      namespaces: 1,
      services: 2,
      pods: 3,
      changes: 60,
      faultsUntilMs: 12_000,
      delayMs: 0,
      watchDelayMs: 50,
    },
    table: (table, actor, world) => ({
      ...table,
      get: (key) =>
        is('ingest', actor) && key.pk.endsWith('#NS') ? stale(world, table, key, 4000) : table.get(key),
    }),
  },
  {
    name: 'a run after a foreign write does not read the API server',
    mechanism: 'outputs compared with the saved ones',
    seeds: [3, 2, 5],
    profile: { ...crashing, crashes: 0, foreignEdits: 6, changes: 5 },
    table: (table) => ({
      ...table,
      update: (key, change, condition) =>
        table.update(
          key,
          change.set && isWork(key)
            ? { ...change, set: without(change.set as unknown as Item, 'live') }
            : change,
          condition,
        ),
    }),
  },
  {
    name: 'a worker uses pods that an earlier run has read',
    mechanism: 'namespace read whole',
    profile: { ...crashing, crashes: 0 },
    pods: (pods) => {
      const kept = keptBy.get(pods) ?? new Map<string, ReturnType<Pods['podsOf']>>();
      keptBy.set(pods, kept);
      return {
        podsOf(store, namespace, maxBytes) {
          const former = kept.get(namespace);
          if (former) kept.delete(namespace);
          else kept.set(namespace, pods.podsOf(store, namespace, maxBytes));
          return former ?? (kept.get(namespace) as ReturnType<Pods['podsOf']>);
        },
      };
    },
  },
  {
    name: 'a list of outputs reports no deletion',
    mechanism: 'outputs compared with the saved ones',
    seeds: [9, 7],
    profile: { ...crashing, crashes: 0, relayKills: 5, foreignEdits: 20 },
    table: (table, actor) => ({
      ...table,
      query: (pk, range) =>
        is('ingest', actor) && pk.includes('#OUT#') ? Promise.resolve([]) : table.query(pk, range),
    }),
  },
  {
    name: 'a page of outputs begins from its start in each run',
    mechanism: 'outputs compared with the saved ones',
    seeds: [3, 2, 4],
    profile: {
      ...crashing,
      crashes: 0,
      ...manyServices(withLimits({ ingest: { outputsPerStep: 4 } }), new Random(1)),
    },
    queue: (queue, name, actor, world) =>
      name === 'events' && is('ingest', actor)
        ? { send: (messages) => queue.send(fromTheStart(messages, world)) }
        : queue,
  },
  {
    name: 'the mass-removal guard checks names of pods alone',
    mechanism: 'mass-removal guard',
    seeds: [4, 5, 2],
    profile: { ...crashing, crashes: 0, ...lyingRelay(ordinaryLimits, 'ending') },
    api: (api, actor) => ({
      ...api,
      list: async (kind: Parameters<ClusterApi['list']>[0], ...more: never[]) => {
        const list = await (api.list as (...args: unknown[]) => Promise<{ readonly items: readonly Pod[] }>)(
          kind,
          ...more,
        );
        if (kind !== 'Pod' || !is('sync', actor)) return list as never;
        return { ...list, items: list.items.map((pod) => lastRead(actor, pod) ?? pod) } as never;
      },
    }),
  },
  {
    name: 'a relay confirms its own lists',
    mechanism: 'own lists of sweep',
    seeds: [5, 1, 4],
    profile: { ...crashing, crashes: 0, ...lyingRelay(ordinaryLimits, 'empty') },
    table: (table, actor) => ({
      ...table,
      get: async (key) => {
        const item = await table.get(key);
        return item && key.pk.endsWith('#SESSION') && is('ingest', actor) ? { ...item, own: 1 } : item;
      },
    }),
  },
  {
    name: 'a list page has a bound of compressed bytes alone',
    mechanism: 'bounds of reads',
    seeds: [3, 4, 1],
    profile: {
      ...crashing,
      crashes: 0,
      fatLabels: true,
      pods: 12,
      limits: withLimits({ relay: { pageSize: 12 }, queue: { inflateBytes: 12_000 } }),
    },
  },
  {
    name: 'a switch of mode leaves the circuit open',
    mechanism: 'circuit, probe, ramp',
    seeds: [4, 3],
    profile: {
      ...crashing,
      crashes: 0,
      outageMs: 60_000,
      faultsUntilMs: 80_000,
      modeSwitches: 2,
      awayMs: 60_000,
      sweepMs: 10_000,
    },
    table: keepsCircuit,
  },
  {
    name: 'sync writes no record of a run, and claims that it did',
    mechanism: 'record of each run',
    profile: { ...crashing, crashes: 0, stalls: 0 },
    table: (table) => ({
      ...table,
      put: (item, condition) => (isRecord(item) ? Promise.resolve(true) : table.put(item, condition)),
    }),
  },
  {
    name: 'sync writes no record of a run',
    mechanism: 'record of each run',
    table: (table) => ({
      ...table,
      put: (item, condition) => (isRecord(item) ? Promise.resolve(true) : table.put(item, condition)),
      update: (key, change, condition) =>
        table.update(key, isWork(key) ? withoutRecord(change) : change, condition),
    }),
  },
  {
    name: 'the work item lacks the id of its newest record',
    mechanism: 'record of each run',
    table: (table) => ({
      ...table,
      update: (key, change, condition) =>
        table.update(key, isWork(key) ? withoutRecord(change) : change, condition),
    }),
  },
  {
    name: 'a failed message is deleted',
    mechanism: 'message returns until wake-ups are sent',
    profile: { ...crashing, crashes: 0, refusals: 0.02 },
    deletesFailed: true,
  },
  {
    name: 'redrive sends parked work with its old generation',
    mechanism: 'generation above done',
    seeds: [163],
    profile: {
      ...crashing,
      crashes: 0,
      apiFailures: 0,
      webhook: true,
      faultsUntilMs: 260_000,
      namespaces: 1,
      services: 2,
      outputsBefore: false,
    },
    redriveCopies: true,
  },
  {
    name: 'a relay that was frozen past its lease continues to send',
    mechanism: "relay's Lease",
    seeds: [11, 17],
    profile: { ...crashing, crashes: 0, standby: true, relayFaults: 8, changes: 60 },
    turns: lateSpeaker,
  },
  {
    name: 'a new leader of the relay sends no lists',
    mechanism: "relay's Lease",
    profile: { ...crashing, crashes: 0, standby: true, relayKills: 3, relayFaults: 8, changes: 60 },
    queue: (queue, name, actor, world) =>
      name === 'events' && is('relay', actor)
        ? { send: (m) => queue.send(listsOfFirst(m, actor, world)) }
        : queue,
  },
  ...optInMutants,
  ...setMutants,
  ...explainMutants,
  ...faultMutants,
  ...zoneMutants,
  ...inPlaceMutants,
];

/** Drops the lists of every relay except the first one. */
function listsOfFirst(
  messages: readonly OutgoingMessage[],
  actor: Actor,
  world: WorldState,
): readonly OutgoingMessage[] {
  return messages.filter((m) => {
    if ((decodeMessage(m.body) as EventsMessage).type !== 'list') return true;
    if (!firstToList.has(world)) firstToList.set(world, actor.name);
    return firstToList.get(world) === actor.name;
  });
}
const firstToList = new WeakMap<WorldState, string>();

/** Removes the progress of messages, so their runs count. */
function fromTheStart(messages: readonly OutgoingMessage[], world: WorldState): readonly OutgoingMessage[] {
  const counts = runs.get(world) ?? new Map<string, number>();
  runs.set(world, counts);
  return messages.flatMap((m) => {
    const { progress, ...message } = decodeMessage(m.body) as {
      readonly progress?: unknown;
      readonly listId?: string;
      readonly partNumber?: number;
    };
    if (progress === undefined) return [m];
    const part = `${message.listId} ${message.partNumber}`;
    const count = (counts.get(part) ?? 1) + 1;
    counts.set(part, count);
    if (count <= world.profile.limits.ingest.maxRuns) return [{ ...m, body: encodeMessage(message) }];
    world.queues.quarantine.add({ body: `not applied within ${count} runs: ${part}` });
    return [];
  });
}
const runs = new WeakMap<WorldState, Map<string, number>>();

/** The pod as the worker has it from the snapshot. */
function lastRead(actor: Actor, { metadata: { name, namespace = '', uid } }: Pod): Pod | undefined {
  const item = actor.known
    .get(objectsOf(cluster, 'Pod', namespace))
    ?.at(-1)
    ?.find((i) => i.sk === name);
  const pod =
    typeof item?.['o'] === 'string' ? decodeProjection('Pod', namespace, name, item['o']) : undefined;
  return pod?.metadata.uid === uid ? pod : undefined;
}

/** A switch does not forget it. */
function keepsCircuit(table: Table): Table {
  return {
    ...table,
    update(key, change, condition) {
      if (change.set?.['mode'] === undefined) return table.update(key, change, condition);
      return table.update(
        key,
        { ...change, remove: (change.remove ?? []).filter((a) => a !== 'circuit') },
        condition,
      );
    },
  };
}

/** Who has written an object. */
const writers = new WeakSet<Actor>();

/** Sends of wake-ups are held back until the record that should have come after them is written. */
function sendsLate(
  role: string,
  isRecord: (change: Parameters<Table['update']>[1]) => boolean,
): Pick<Mutant, 'queue' | 'table'> {
  const held = new WeakMap<Actor, (() => Promise<void>)[]>();
  const release = async (actor: Actor): Promise<void> => {
    for (const send of held.get(actor)?.splice(0) ?? []) await send();
  };
  return {
    queue: (queue, name, actor) => {
      if (name !== 'syncs' || !is(role, actor)) return queue;
      return {
        async send(messages) {
          held.set(actor, [...(held.get(actor) ?? []), () => queue.send(messages)]);
          actor.later(2000, () => void release(actor).catch(() => {}));
        },
      };
    },
    table: (table, actor) => {
      if (!is(role, actor)) return table;
      return {
        ...table,
        async update(key, change, condition) {
          const item = await table.update(key, change, condition);
          if (isRecord(change)) await release(actor);
          return item;
        },
      };
    },
  };
}

/** A worker counts its lease as endless. */
function believesInItsLease(table: Table, actor: Actor): Table {
  if (!is('sync', actor)) return table;
  return {
    ...table,
    async update(key, change, condition) {
      const item = await table.update(key, change, condition);
      return item && isWork(key) && change.set?.['until'] !== undefined
        ? { ...item, until: Number.MAX_SAFE_INTEGER }
        : item;
    },
  };
}

/** The deltas of a work item name the body that is there. */
function appliesToAnyBody(table: Table): Table {
  const rebased = async (item: Item | undefined): Promise<Item | undefined> => {
    if (!item || !isWork(item) || !(item['d'] instanceof Uint8Array)) return item;
    const bodies = await table.query(outputsOf(parseWorkKey(item.pk)));
    const texts = new Map(bodies.map((body) => [body.sk, savedBodyOf(body).text ?? '']));
    const deltas = [...decodeDeltas(item['d'])].map(
      ([sk, delta]) => [sk, { ...delta, of: checksumOf(texts.get(sk) ?? '') }] as const,
    );
    return { ...item, d: encodeDeltas(new Map(deltas)) as Uint8Array };
  };
  return {
    ...table,
    get: async (key) => rebased(await table.get(key)),
    update: async (...change) => rebased(await table.update(...change)),
  };
}

const seen = new WeakMap<WorldState, Map<string, { readonly at: number; readonly item: Item | undefined }>>();

/** Returns the item of an earlier read, at most that old. */
async function stale(world: WorldState, table: Table, key: Key, ms: number): Promise<Item | undefined> {
  const items = seen.get(world) ?? new Map();
  seen.set(world, items);
  const name = `${key.pk}|${key.sk}`;
  const known = items.get(name);
  if (known && world.scheduler.now - known.at < ms) return known.item;
  const item = await table.get(key);
  items.set(name, { at: world.scheduler.now, item });
  return item;
}
