/** Returns the percentile of values in ascending order, or NaN without values. `share` is 0 to 1. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
