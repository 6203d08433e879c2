import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import {
  type ClusterSize,
  clusterObjects,
  exportOf,
  generator,
  withReadiness,
} from '../cost/cluster-objects.ts';
import { type AwsOptions, AwsWorld } from './aws-world.ts';
import { MeasuredChanges } from './measured-changes.ts';

export interface Scenario {
  readonly name: string;
  readonly size: ClusterSize;
  readonly options?: Partial<AwsOptions>;
  readonly run: (world: AwsWorld, changes: MeasuredChanges) => Promise<void>;
}

/** Flips the readiness of pods, one at a time, in the mean every `everyMs`. */
export const flips =
  (count: number, everyMs: number, before: (world: AwsWorld) => void = () => {}) =>
  async (world: AwsWorld, changes: MeasuredChanges): Promise<void> => {
    const pods = world.store.list('Pod');
    const ready = pods.map(() => true);
    const changedAt = pods.map(() => 0);
    const random = generator(3);
    for (let i = 0; i < count; i++) {
      before(world);
      let index = Math.floor(random() * pods.length);
      // A pod that changes again before it was shown would hide the first change.
      while (world.now - (changedAt[index] ?? 0) < 5_000) index = (index + 1) % pods.length;
      changedAt[index] = world.now;
      const isReady = !ready[index];
      ready[index] = isReady;
      changes.expect(pods[index]?.metadata.uid ?? '', isReady);
      world.store.apply(withReadiness(pods[index] as RawObject, isReady, world.now));
      await world.runFor(Math.round(everyMs * (0.5 + random())));
    }
    await world.runFor(30_000);
  };

/** All pods of one service are replaced within ten seconds: a new one becomes ready, an old one goes. */
const rollouts =
  (count: number) =>
  async (world: AwsWorld, changes: MeasuredChanges): Promise<void> => {
    for (let n = 0; n < count; n++) {
      const former = world.store
        .list('Pod', 'shop-0')
        .filter((p) => p.metadata.labels?.['app.kubernetes.io/name'] === 'service-0');
      for (const [i, old] of former.entries()) {
        const uid = `${randomOf(n, i)}`;
        const ip = `10.${200 + (n % 50)}.${i}.1`;
        const { resourceVersion: _, ...metadata } = old.metadata;
        const next = {
          ...old,
          metadata: { ...metadata, name: `service-0-r${n}-${i}`, uid },
          status: { phase: 'Running', podIP: ip, podIPs: [{ ip }] },
        };
        changes.expect(uid, true);
        world.store.apply(withReadiness(next as RawObject, true, world.now));
        world.store.remove('Pod', 'shop-0', old.metadata.name);
        await world.runFor(200);
      }
      await world.runFor(30_000);
    }
  };

const randomOf = (n: number, i: number): string =>
  `00000000-0000-4000-8${String(n).padStart(3, '0')}-${String(i).padStart(12, '0')}`;

const small = { namespaces: 1, services: 20, podsPerService: 10 };

/** As in the third load of `npm run churn`. */
const storm = { namespaces: 1, services: 100, podsPerService: 20 };

/** All of its pods are of one service. */
const exported = { namespaces: 1, services: 1, podsPerService: 50 };

const quiet: Scenario = { name: 'quiet cluster: a change every 5 s', size: small, run: flips(4_000, 5_000) };
const imported: Scenario = {
  name: 'exported service, to the write in an importer',
  size: exported,
  options: { exportsToItself: true },
  run: flips(1_000, 5_000),
};

/** The scenarios whose batches cost/prices.ts has. */
export const priced: readonly Scenario[] = [quiet, imported];

export const scenarios: readonly Scenario[] = [
  quiet,
  {
    name: 'quiet cluster, API server 30 ms away',
    size: small,
    options: { apiIsFarAway: true },
    run: flips(4_000, 5_000),
  },
  {
    name: 'busy cluster: 20 changes a second, 5,000 pods',
    size: { namespaces: 20, services: 25, podsPerService: 10 },
    run: flips(6_000, 50),
  },
  {
    name: 'storm: 300 changes a second on 100 services, in one namespace',
    size: storm,
    run: flips(6_000, 3.33),
  },
  {
    name: 'rollout of 50 pods within ten seconds',
    size: { namespaces: 1, services: 1, podsPerService: 50 },
    run: rollouts(40),
  },
  {
    name: 'large service: 1,000 pods, a change every 5 s',
    size: { namespaces: 1, services: 1, podsPerService: 1_000 },
    run: flips(400, 5_000),
  },
  imported,
  {
    name: 'cold: every function starts a container',
    size: small,
    run: flips(1_000, 60_000, (world) => world.coolDown()),
  },
];

export async function measure({ name, size, options, run }: Scenario): Promise<string> {
  const isExported = options?.exportsToItself ?? false;
  const world = await AwsWorld.start({
    given: [...clusterObjects(size), ...(isExported ? [exportOf('shop-0', 'service-0')] : [])],
    ...options,
  });
  const changes = new MeasuredChanges(world, isExported);
  await run(world, changes);
  if (changes.missing > 0) throw new Error(`${name}: ${changes.missing} changes were never shown`);
  const { length: count } = changes.latenciesMs;
  const { runs, lambdaMs } = world.work;
  return `| ${name} | ${changes.summary()} | ${count} | ${((100 * runs) / count).toFixed(0)} | ${(lambdaMs / count).toFixed(0)} |`;
}
