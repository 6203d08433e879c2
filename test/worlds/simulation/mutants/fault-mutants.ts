/**
 * Deliberate bugs by which a fault of one service, call or clock costs others something, or takes longer than
 * it has to.
 */
import type { SyncDeps } from '#functions/sync/state/deps.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { culpritWorld } from '#test/worlds/simulation/faults/culprit.ts';
import { ordinaryLimits } from '#test/worlds/simulation/faults/draw-limits.ts';
import { largeTenant } from '#test/worlds/simulation/faults/large-tenant.ts';
import { longOutage } from '#test/worlds/simulation/faults/long-outage.ts';
import { partialAnswers, type TableAnswers } from '#test/worlds/simulation/faults/partial-answers.ts';
import { rightClocks } from '#test/worlds/simulation/faults/profile.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import { crashing, type Mutant } from './mutant.ts';

export const faultMutants: readonly Mutant[] = [
  {
    name: 'a read that the server fails opens the circuit without a probe',
    mechanism: 'circuit, probe, ramp',
    seeds: [12, 9, 4],
    profile: culpritWorld('reads', 100_000),
    api: unasked(({ status }) => status >= 500),
  },
  {
    name: 'a connection that breaks opens the circuit without a probe',
    mechanism: 'circuit, probe, ramp',
    seeds: [2, 3, 4],
    profile: culpritWorld('resets', 100_000),
    api: unasked(({ status }) => status === 0),
  },
  {
    name: 'a work item that the table refuses holds back the wake-ups of its batch',
    mechanism: 'refused calls cost their service only',
    seeds: [24, 29, 9],
    profile: culpritWorld('items', 100_000),
    ...allOrNothing(),
  },
  {
    name: 'a report of the relay’s clock is believed unasked',
    mechanism: 'incarnation and unbound sessions',
    seeds: [3, 2, 5],
    profile: {
      ...crashing,
      crashes: 0,
      goesBack: 'restored',
      changes: 40,
      clocks: { ...rightClocks, relayAheadMs: -300_000 },
    },
    api: (api, { name }) => ({
      ...api,
      // As if the cluster were where the hub knows it to be.
      list: async (kind: Parameters<ClusterApi['list']>[0], ...more: never[]) => {
        const list = await (api.list as (...args: unknown[]) => Promise<object>)(kind, ...more);
        return (name.startsWith('sweep-') ? { ...list, resourceVersion: '999999999' } : list) as never;
      },
    }),
  },
  {
    name: 'first lists are forgotten after an hour',
    mechanism: 'first lists',
    seeds: [3, 2, 5],
    profile: longOutage(new Random(1)),
    table: (table, _, { scheduler }) => ({
      ...table,
      update: (key, change, condition) =>
        table.update(
          key,
          change.set?.['ttl'] ? { ...change, set: { ...change.set, ttl: inAnHour(scheduler.now) } } : change,
          condition,
        ),
    }),
  },
  {
    name: 'a walk over services reads their texts',
    mechanism: 'bounds of reads',
    seeds: [9, 10, 3],
    profile: { ...crashing, crashes: 0, modeSwitches: 2, ...largeTenant(ordinaryLimits, 200_000) },
    table: (table) => ({
      ...table,
      query: (pk, { only, ...range } = {}) =>
        table.query(pk, pk.includes('#SVC#') ? range : { ...range, ...(only && { only }) }),
    }),
  },
  {
    name: 'a run that throws keeps its lease',
    mechanism: 'refused calls cost their service only',
    seeds: [13, 12],
    profile: culpritWorld('seldom', 150_000),
    table: (table) => ({
      ...table,
      update: async (key, change, condition) =>
        Object.keys(change.set ?? {}).join() === 'until' ? undefined : table.update(key, change, condition),
    }),
  },
  {
    name: 'a refused write is made again after its run',
    mechanism: 'refused calls cost their service only',
    seeds: [6, 5, 2],
    profile: { ...crashing, crashes: 0, refusals: 0.02 },
    table: (table, actor) => ({
      ...table,
      put: (item, condition) =>
        table.put(item, condition).catch((error: unknown) => {
          actor.later(3_000, () => void table.put(item, condition).catch(() => {}));
          throw error;
        }),
    }),
  },
  {
    name: 'each run reads the Nodes for itself',
    mechanism: 'bounds of reads',
    seeds: [3, 4, 2],
    profile: { ...crashing, crashes: 0, changes: 60 },
    nodes: (): SyncDeps['nodes'] => Object.assign(new Map(), { get: () => undefined }),
  },
  {
    name: 'a call of a client waits for ever',
    mechanism: 'driver asks again',
    seeds: [4, 3, 1],
    profile: { ...crashing, crashes: 0, ...partialAnswers(3, 0.3) },
    silentMs: Number.POSITIVE_INFINITY,
  },
  {
    name: 'six partial answers are as many as a read takes',
    mechanism: 'driver asks again',
    seeds: [8, 5, 11],
    profile: { ...crashing, crashes: 0, ...partialAnswers(1, 0) },
    client: sixRounds,
  },
  {
    name: 'a key that the table leaves unprocessed counts as absent',
    mechanism: 'driver asks again',
    seeds: [27, 114, 23],
    profile: { ...crashing, crashes: 0, ...partialAnswers(2, 0) },
    client: (answers) => ({
      ...answers,
      batchGet: async (keys) => ({ Responses: (await answers.batchGet(keys)).Responses }),
    }),
  },
  {
    name: 'a query ends with its first page',
    mechanism: 'driver asks again',
    seeds: [4, 3, 2],
    profile: { ...crashing, crashes: 0, ...partialAnswers(3, 0) },
    client: (answers) => ({
      ...answers,
      query: async (input) => ({ Items: (await answers.query(input)).Items }),
    }),
  },
];

const inAnHour = (nowMs: number): number => Math.floor(nowMs / 1000) + 3600;

function sixRounds(answers: TableAnswers): TableAnswers {
  const rounds = new Map<string, number>();
  return {
    ...answers,
    async batchGet(keys) {
      const output = await answers.batchGet(keys);
      const unprocessed = (output.UnprocessedKeys?.['table']?.Keys ?? []).map((key) => JSON.stringify(key));
      const before = unprocessed.map((key) => [key, (rounds.get(key) ?? 0) + 1] as const);
      rounds.clear();
      for (const [key, count] of before) rounds.set(key, count);
      if (before.some(([, count]) => count >= 6))
        throw new Error('the table left keys unprocessed in 6 rounds');
      return output;
    },
  };
}

/** A failed call of an object counts as the answer to the question for the identity. */
function unasked(isOf: (error: ClusterApiError) => boolean): NonNullable<Mutant['api']> {
  const failed = new WeakMap<Actor, ClusterApiError>();
  return (api, actor) => {
    const noted =
      <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        try {
          return await call(...args);
        } catch (error) {
          if (error instanceof ClusterApiError && isOf(error)) failed.set(actor, error);
          throw error;
        }
      };
    return {
      ...api,
      get: noted(api.get) as ClusterApi['get'],
      list: noted(api.list) as ClusterApi['list'],
      replace: noted(api.replace) as ClusterApi['replace'],
      create: noted(api.create) as ClusterApi['create'],
      identity: async () => {
        const error = failed.get(actor);
        if (error) throw error;
        return api.identity();
      },
    };
  };
}

function allOrNothing(): Pick<Mutant, 'table' | 'queue'> {
  const refused = new WeakSet<Actor>();
  return {
    table: (table, actor) => ({
      ...table,
      update: (key, change, condition) =>
        table.update(key, change, condition).catch((error: unknown) => {
          if (actor.name.startsWith('ingest-') && key.pk.includes('#WORK#')) refused.add(actor);
          throw error;
        }),
    }),
    queue: (queue, name, actor) =>
      name === 'syncs'
        ? { send: async (messages) => (refused.has(actor) ? undefined : queue.send(messages)) }
        : queue,
  };
}
