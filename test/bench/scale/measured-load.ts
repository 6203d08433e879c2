import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { MemoryTable } from '#test/support/memory/table-memory.ts';
import { clusterObjects, generator, withReadiness } from '../cost/cluster-objects.ts';
import { MeteredWorld, total } from '../cost/metered-world.ts';
import { AwsWorld } from '../latency/aws-world.ts';
import { MeasuredChanges } from '../latency/measured-changes.ts';
import { flips } from '../latency/scenarios.ts';

/** A cluster of 5,000 pods: 1,000 services of five in 20 namespaces. */
const size = { namespaces: 20, services: 50, podsPerService: 5 };
export const servicesOfCluster = size.namespaces * size.services;
export const podsOfService = size.podsPerService;

/** Counted work of one cluster, of one change or of one burst. */
export interface Work {
  readonly writes: number;
  readonly reads: number;
  /** Units of the busiest partition of the table. */
  readonly hotWrites: number;
  readonly hotReads: number;
  /** Writes of the index, over all keys of the cluster. */
  readonly indexWrites: number;
  readonly batches: { readonly ingest: number; readonly sync: number };
  readonly dollars: number;
}

export interface Load {
  /** Changes a second of one cluster. */
  readonly rate: number;
  readonly perChange: Work;
  /** The same for changes of one namespace. */
  readonly oneNamespace: Pick<Work, 'hotWrites' | 'hotReads'>;
  readonly latenciesMs: readonly number[];
}

const changesOf = new Map([
  [0.1, 40],
  [1, 200],
  [10, 1_000],
]);

export async function measureLoad(rate: number): Promise<Load> {
  const changes = changesOf.get(rate) ?? 200;
  const work = await workOf((counter) => change(counter, rate, changes, undefined));
  const narrow = await workOf((counter) => change(counter, rate, changes, 'shop-0'));
  const perChange = scaled(work, 1 / changes);
  const { hotWrites, hotReads } = scaled(narrow, 1 / changes);
  return {
    rate,
    perChange,
    oneNamespace: { hotWrites, hotReads },
    latenciesMs: await latencies(rate, changes),
  };
}

/** All Services and pods of the cluster are listed again. */
export const measureRelist = (): Promise<Work> =>
  workOf(async ({ world }) => {
    await world.sendInventory('relist', ['Service', 'Pod', 'Node']);
    await world.runUntil(world.now + 30_000);
  });

/** Measures the work if `podsEach` pods of each service change at once, which wakes every service. */
export const measureWakeAll = (podsEach: number): Promise<Work> =>
  workOf(async ({ world }) => {
    const pods = world.store.list('Pod').filter((_, i) => i % size.podsPerService < podsEach);
    for (const pod of pods) world.store.apply(withReadiness(pod, false, world.now));
    await world.runUntil(world.now + 60_000);
  });

async function workOf(run: (metered: MeteredWorld) => Promise<void>): Promise<Work> {
  const metered = await MeteredWorld.start(size);
  const counts = countPartitions(metered.world.table);
  const batches = { ingest: 0, sync: 0 };
  metered.onBatch = (stage) => void batches[stage]++;
  const usage = await metered.usageOf(() => run(metered));
  const most = (key: 'reads' | 'writes'): number =>
    Math.max(0, ...[...counts.partitions.values()].map((units) => units[key]));
  return {
    writes: usage.writeUnits,
    reads: usage.readUnits,
    hotWrites: most('writes'),
    hotReads: most('reads'),
    indexWrites: counts.index.writes,
    batches,
    dollars: total(usage),
  };
}

async function change(
  { world }: MeteredWorld,
  rate: number,
  changes: number,
  namespace: string | undefined,
): Promise<void> {
  const pods = world.store.list('Pod', namespace);
  const ready = pods.map(() => true);
  const random = generator(7);
  const start = world.now;
  for (let i = 0; i < changes; i++) {
    const at = Math.floor(random() * pods.length);
    ready[at] = !ready[at];
    world.store.apply(withReadiness(pods[at] as RawObject, ready[at] === true, world.now));
    await world.runUntil(start + ((i + 1) / rate) * 1000);
  }
  await world.runUntil(world.now + 15_000);
}

async function latencies(rate: number, changes: number): Promise<readonly number[]> {
  const world = await AwsWorld.start({ given: clusterObjects(size) });
  const measured = new MeasuredChanges(world);
  await flips(changes, 1000 / rate)(world, measured);
  if (measured.missing > 0) throw new Error(`${measured.missing} changes were never shown`);
  return measured.latenciesMs.toSorted((a, b) => a - b);
}

function scaled(work: Work, by: number): Work {
  const { batches, ...numbers } = work;
  const each = Object.fromEntries(Object.entries(numbers).map(([name, n]) => [name, n * by])) as Omit<
    Work,
    'batches'
  >;
  return { ...each, batches: { ingest: batches.ingest * by, sync: batches.sync * by } };
}

/** A call takes effect when it is made, so the units that it adds are those of its partition. */
function countPartitions(table: MemoryTable) {
  const partitions = new Map<string, { reads: number; writes: number }>();
  const index = { writes: 0 };
  function counted<T>(pk: string, call: () => T): T {
    const { read, write } = table.units;
    const result = call();
    const units = partitions.get(pk) ?? { reads: 0, writes: 0 };
    partitions.set(pk, {
      reads: units.reads + table.units.read - read,
      writes: units.writes + table.units.write - write,
    });
    return result;
  }
  const { get, query, put, update, delete: remove } = table;
  const replaced: Partial<MemoryTable> = {
    get: (key) => counted(key.pk, () => get.call(table, key)),
    query: (pk, range) => counted(pk, () => query.call(table, pk, range)),
    put: (item, condition) => counted(item.pk, () => put.call(table, item, condition)),
    delete: (key, condition) => counted(key.pk, () => remove.call(table, key, condition)),
    update(key, next, condition) {
      if (
        next.set?.['dirtyAt'] !== undefined ||
        next.setIfAbsent?.['dirtyAt'] !== undefined ||
        next.remove?.includes('dirtyAt')
      )
        index.writes++;
      return counted(key.pk, () => update.call(table, key, next, condition));
    },
  };
  Object.assign(table, replaced);
  return { partitions, index };
}
