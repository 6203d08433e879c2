/**
 * How a relay tells how late endpoints are: the time from its observation of a change of a pod to its
 * observation of a slice that shows the change, whoever wrote the slice.
 */

/** The changes of a pod: it became ready, or not ready, or is being deleted. */
export const endpointChanges = ['ready', 'not_ready', 'deleted'] as const;
export type EndpointChange = (typeof endpointChanges)[number];

/** Who wrote the slice: a hub, the cluster's own controllers, or another client. */
export const sliceWriters = ['hub', 'built_in', 'other'] as const;
export type SliceWriter = (typeof sliceWriters)[number];

/**
 * Upper bounds of the histogram's buckets, ms. A percentile is exact to half of its value. A change that no
 * slice shows within the last bound counts no more.
 */
export const delayBoundsMs: readonly number[] = [
  ...[10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000],
  ...[10_000, 15_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000],
];

/** Number of delays in a bucket. */
export interface DelayCount {
  readonly writer: SliceWriter;
  readonly change: EndpointChange;
  /** The upper bound of the bucket. */
  readonly atMostMs: number;
  readonly count: number;
}

/** The longest delay of a Service. */
export interface SlowService {
  readonly namespace: string;
  readonly service: string;
  readonly writer: SliceWriter;
  readonly change: EndpointChange;
  readonly ms: number;
}

/** The delays since the last heartbeat that the queue has accepted. */
export interface EndpointDelayReport {
  readonly counts: readonly DelayCount[];
  /** The slowest Services, slowest first. Empty if none was slow. */
  readonly slowest: readonly SlowService[];
}

/** How soon slices showed that pods were being deleted, since the relay began. */
export interface RemovalDelay {
  readonly count: number;
  /** 99.9 % of them were that soon, ms: the upper bound of a bucket. */
  readonly withinMs: number;
}

/** Of fewer removals no 99.9th percentile is told. */
export const leastRemovals = 1_000;

/** `counts`: by the upper bound of the bucket. Undefined: too few to tell. */
export function removalDelay(counts: ReadonlyMap<number, number>): RemovalDelay | undefined {
  const count = [...counts.values()].reduce((sum, n) => sum + n, 0);
  if (count < leastRemovals) return undefined;
  let left = Math.floor(count / 1_000);
  const withinMs = delayBoundsMs.findLast((bound) => {
    left -= counts.get(bound) ?? 0;
    return left < 0;
  });
  return withinMs === undefined ? undefined : { count, withinMs };
}

/** A delay above this is slow, ms. */
export const slowDelayMs = 1_000;
/** Number of Services that a heartbeat names. */
export const maxSlowServices = 5;
