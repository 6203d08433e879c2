/**
 * The table and the messages that a version leaves are read by this one, with its own ingest, sync and sweep.
 * This version leaves them to itself; what released versions left was recorded at their release
 * (record.main.ts).
 */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { registerCluster } from '#shared/clusters/registration.ts';
import { cluster, HubWorld, type HubWorldOptions } from '#test/support/hub-world.ts';
import { aPod } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';
import { type HubState, itemsOf, type MessageUnderWay, type QueueName } from './released-state.ts';
import { activeCluster, type Named, optInCluster, type Recorded, serviceOf, services } from './scenario.ts';
import { historyOf, outputsOf, placesOf } from './told.ts';

interface Release {
  readonly version: string;
  readonly active: Recorded;
  readonly optIn: Recorded;
}

const released = globSync('test/worlds/upgrade/released/*.json').map(
  (file): Release => JSON.parse(readFileSync(file, 'utf8')),
);
// Through JSON, as a record of a release is.
const own: Release = JSON.parse(
  JSON.stringify({ version: 'this one', active: await activeCluster(), optIn: await optInCluster() }),
);

interface Taken {
  readonly world: HubWorld;
  readonly pass: (seconds: number) => Promise<void>;
  /** Names of the services that this version has written, in order. */
  readonly written: readonly string[];
}

async function sendAll(
  world: HubWorld,
  queue: QueueName,
  messages: readonly MessageUnderWay[],
): Promise<void> {
  await world.queues[queue].send(
    messages.map(({ body, inMs }) => ({ body, delaySeconds: Math.ceil(inMs / 1000) })),
  );
}

/** Lets this version take over from the version of the state. */
async function takeOver(state: HubState, options: Pick<HubWorldOptions, 'mode' | 'optIn'>): Promise<Taken> {
  const written: string[] = [];
  const api: NonNullable<HubWorldOptions['api']> = (inner) => {
    const write = <T>(object: Named, run: () => Promise<T>): Promise<T> => {
      written.push(serviceOf(object));
      return run();
    };
    return {
      ...inner,
      create: (kind, object) =>
        kind === 'Event' ? inner.create(kind, object) : write(object, () => inner.create(kind, object)),
      replace: (kind, object) =>
        kind === 'Event' ? inner.replace(kind, object) : write(object, () => inner.replace(kind, object)),
    };
  };
  const { atMs, objects, resourceVersion, session, firstListVersion } = state;
  const world = HubWorld.resume(
    { given: objects, startAt: atMs, settings: {}, api, ...options },
    { items: itemsOf(state), resourceVersion, session, firstListVersion },
  );
  for (const [queue, messages] of Object.entries(state.queues))
    await sendAll(world, queue as QueueName, messages);
  return { world, written, pass: (seconds) => world.runUntil(world.now + seconds * 1000) };
}

const shadow: Pick<HubWorldOptions, 'mode' | 'optIn'> = { mode: 'shadow', optIn: 'active' };

it('the newest version before this one in CHANGELOG has a record', () => {
  const { version: current } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly version: string;
  };
  const named = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(
    ([, version]) => version,
  );
  const [newest] = named.filter((version) => version !== current);
  expect(released.map(({ version }) => version)).toEqual(
    newest === undefined ? [] : expect.arrayContaining([newest]),
  );
});

describe.each([own, ...released].map((release) => [release.version, release] as const))(
  'from version %s',
  (_, { active, optIn }) => {
    it('the record has work of every kind under way: a lease, unread events, wake-ups that wait, a retry, parked work', () => {
      const { items, queues } = active.upgraded;
      const work = items.filter(({ pk }) => String(pk).includes('#WORK#'));
      expect(work.filter((item) => 'lease' in item).length).toBeGreaterThan(0);
      for (const queue of ['events', 'syncs', 'parked'] as const)
        expect(queues[queue].length).toBeGreaterThan(0);
      expect(Object.keys(active.told).sort()).toEqual(Object.keys(services).sort());
      for (const { history, places } of Object.values(active.told))
        expect([history.length > 0, places.length > 0]).toEqual([true, true]);
    });

    it('work, history and verdicts are read as they were written', async () => {
      for (const [{ upgraded, told }, options] of [
        [active, {}],
        [optIn, shadow],
      ] as const) {
        const { world } = await takeOver(upgraded, options);
        for (const [service, { history, places }] of Object.entries(told)) {
          expect(await historyOf(world, service)).toEqual(history);
          expect(await placesOf(world, service)).toEqual(places);
        }
      }
    });

    it('work under way is finished: outputs become those of that version, and services without a change stay unchanged', async () => {
      const { world, written, pass } = await takeOver(active.upgraded, {});
      await pass(900);
      expect(outputsOf(world)).toEqual(active.written);
      expect(differences(world.store, 100).filter(({ service }) => service !== 'default/parked')).toEqual([]);
      expect(new Set(written)).toEqual(new Set(['web', 'near', 'failing']));
      const { deadEvents, deadSyncs, quarantine, parked } = world.queues;
      expect([deadEvents, deadSyncs, quarantine].flatMap((queue) => queue.waiting())).toEqual([]);
      expect(parked.waiting()).toHaveLength(active.upgraded.queues.parked.length);
    });

    it('parked work is taken up again by the next change, and records of this version follow those of the former', async () => {
      const { world, pass } = await takeOver(active.upgraded, {});
      await pass(900);
      world.store.apply(aPod(31, { app: 'p' }));
      world.store.remove('Pod', 'default', 'pod-1');
      await pass(60);
      expect(differences(world.store, 100)).toEqual([]);
      const history = (await historyOf(world, 'web')) as readonly {
        readonly changes: readonly { readonly pod: string; readonly why: string }[];
      }[];
      const before = active.told['web']?.history.length ?? 0;
      expect(history.slice(0, before)).toEqual(active.told['web']?.history);
      expect(history.at(-1)?.changes).toMatchObject([{ pod: 'pod-1', why: 'the pod is gone' }]);
    });

    it('a Service that opts in keeps its slices, which follow its pods', async () => {
      const { world, pass } = await takeOver(optIn.upgraded, shadow);
      const names = (): readonly string[] =>
        world.store.list('EndpointSlice').map(({ metadata }) => metadata.name);
      const before = names();
      await pass(900);
      expect(outputsOf(world)).toEqual(optIn.written);
      expect(names()).toEqual(before);
      expect(
        differences(world.store, 100, 'active').filter(({ service }) => service !== 'default/theirs'),
      ).toEqual([]);
    });

    it('a relay of that version is understood from its first list on, by a hub without data of its cluster', async () => {
      for (const [{ relay }, options] of [
        [active, {}],
        [optIn, shadow],
      ] as const) {
        const { messages, at } = relay;
        const { world, pass } = await takeOver(
          { ...at, items: [], queues: { ...at.queues, events: [], syncs: [], parked: [] } },
          options,
        );
        await registerCluster(
          world.table,
          { id: cluster, mode: 'active', settings: {}, ...options },
          world.now,
        );
        await sendAll(world, 'events', messages);
        await pass(300);
        expect(world.queues.quarantine.waiting()).toEqual([]);
        const before = outputsOf(world);
        world.store.apply(aPod(9));
        await pass(60);
        const added = (await placesOf(world, 'web')).find(
          (place) => (place as { pod: string }).pod === 'pod-9',
        );
        expect(added).toMatchObject({ relation: 'selected' });
        expect(JSON.stringify(before)).not.toContain('10.1.0.10');
        expect(JSON.stringify(outputsOf(world))).toContain('10.1.0.10');
      }
    });
  },
);
