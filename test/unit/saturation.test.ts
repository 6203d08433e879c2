import { expect, it } from 'vitest';
import type { Load, Work } from '#test/bench/scale/measured-load.ts';
import { concurrencyOf, demandsOf, drainOf, waitSeconds } from '#test/bench/scale/saturation.ts';

const none: Work = {
  writes: 0,
  reads: 0,
  hotWrites: 0,
  hotReads: 0,
  indexWrites: 0,
  batches: { ingest: 0, sync: 0 },
  dollars: 0,
};
const seconds = { ingest: 0.1, sync: 0.1 };
const load = (perChange: Partial<Work>, hot: Partial<Work> = {}): Load => ({
  rate: 10,
  perChange: { ...none, ...perChange },
  oneNamespace: { hotWrites: 0, hotReads: 0, ...hot },
  latenciesMs: [],
});

it('the first limit is the one with the highest use', () => {
  const [first] = demandsOf(load({ writes: 10 }, { hotReads: 300 }), 10, seconds);
  expect(first).toEqual({
    what: 'read units of the busiest partition, all changes in one namespace',
    use: 1,
  });
});

it('units of the table add up over clusters, and those of a namespace do not', () => {
  const use = (clusters: number, what: RegExp) =>
    demandsOf(load({ writes: 40 }, { hotWrites: 10 }), clusters, seconds).find((d) => what.test(d.what))?.use;
  expect([use(1, /^write units of the table/), use(50, /^write units of the table/)]).toEqual([0.01, 0.5]);
  expect([use(1, /^write units of the busiest/), use(50, /^write units of the busiest/)]).toEqual([0.1, 0.1]);
});

it('the concurrency of a cluster is the default up to 26 clusters, and at least two', () => {
  expect([concurrencyOf(26), concurrencyOf(100), concurrencyOf(1_000)]).toEqual([
    { ingest: 10, sync: 20 },
    { ingest: 2, sync: 5 },
    { ingest: 2, sync: 2 },
  ]);
});

it('a wait is that of Erlang C: an empty stage has none, and a full one has no bound', () => {
  expect(waitSeconds(0.1, 10, 1, 0.99)).toBe(0);
  expect(waitSeconds(10, 10, 1, 0.5)).toBe(Number.POSITIVE_INFINITY);
  // One server: the share of waiting batches is the use, and the wait has the rate 1 - use.
  expect(waitSeconds(0.5, 1, 1, 0.99)).toBeCloseTo(Math.log(50) / 0.5, 9);
});

it('a burst ends with the slowest of its bounds', () => {
  const work = { ...none, writes: 40_000, indexWrites: 1_000 };
  expect(drainOf(work, 10, seconds, { isNewTable: false })[0]).toEqual({
    what: 'write units of the table',
    seconds: 10,
  });
  expect(drainOf(work, 10, seconds, { isNewTable: true })[0]?.seconds).toBe(100);
});
