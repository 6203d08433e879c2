/** Observations of one metric in buckets of a second, kept as long as the console shows them. */
import type { Statistic } from '#infra/aws/monitoring/series.ts';

export interface TimeSeries {
  /**
   * Adds a value at `at`, seconds since the epoch. Lines of several processes may arrive slightly out of
   * order.
   */
  add(at: number, value: number): void;
  /** Returns the buckets with from ≤ second < to, in order. */
  between(from: number, to: number): readonly Bucket[];
}

export interface Bucket {
  readonly second: number;
  count: number;
  sum: number;
  min: number;
  max: number;
  /** All values, if percentiles are needed. */
  readonly values: number[] | undefined;
}

/** Time for which observations are kept, seconds. */
export const keptSeconds = 30 * 60;

export function timeSeries(keepValues: boolean): TimeSeries {
  const buckets: Bucket[] = [];
  /**
   * Returns the index of the first bucket at or after the second: nearly always the last index or the next
   * one.
   */
  function indexOf(second: number): number {
    let i = buckets.length;
    while (i > 0 && (buckets[i - 1] as Bucket).second >= second) i--;
    return i;
  }
  return {
    add(at, value) {
      const second = Math.floor(at);
      const i = indexOf(second);
      let bucket = buckets[i];
      if (bucket?.second !== second) {
        bucket = { second, count: 0, sum: 0, min: value, max: value, values: keepValues ? [] : undefined };
        buckets.splice(i, 0, bucket);
        // Old buckets are removed in groups, because each removal moves all other buckets.
        const old = indexOf((buckets.at(-1) as Bucket).second - keptSeconds);
        if (old > 300) buckets.splice(0, old);
      }
      bucket.count++;
      bucket.sum += value;
      bucket.min = Math.min(bucket.min, value);
      bucket.max = Math.max(bucket.max, value);
      bucket.values?.push(value);
    },
    between: (from, to) => buckets.slice(indexOf(from), indexOf(to)),
  };
}

/** Returns undefined without observations, or for a percentile if values were not kept. */
export function statisticOf(
  buckets: readonly Bucket[],
  statistic: Statistic | 'SampleCount',
): number | undefined {
  if (buckets.length === 0) return undefined;
  const sum = (numberIn: (b: Bucket) => number) => buckets.reduce((total, b) => total + numberIn(b), 0);
  switch (statistic) {
    case 'Sum':
      return sum((b) => b.sum);
    case 'SampleCount':
      return sum((b) => b.count);
    case 'Average':
      return sum((b) => b.sum) / sum((b) => b.count);
    case 'Minimum':
      return buckets.reduce((least, b) => Math.min(least, b.min), Number.POSITIVE_INFINITY);
    case 'Maximum':
      return buckets.reduce((most, b) => Math.max(most, b.max), Number.NEGATIVE_INFINITY);
    default:
      return percentile(
        buckets.flatMap((b) => b.values ?? []),
        Number(statistic.slice(1)),
      );
  }
}

/** Returns the percentile by nearest rank, which is an observed value. */
function percentile(values: readonly number[], p: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)];
}
