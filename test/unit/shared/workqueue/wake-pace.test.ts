import { expect, it } from 'vitest';
import { defaultLimits } from '#shared/contract/limits.ts';
import { WakePace } from '#shared/workqueue/wake-pace.ts';

const limits = { ...defaultLimits.sync, wakesOfCluster: 4, wakesOfNamespace: 2 };
const name = (imported: string, namespace = 'shop', cluster = 'b') => {
  return { cluster, namespace, kind: 'import', name: imported, clusters: ['a'], isFresh: false } as const;
};

it('a namespace spends a minute’s wake-ups at once, and then one at a time', () => {
  const pace = new WakePace(limits);
  const waits = Array.from({ length: 4 }, (_, i) => pace.take(name(`${i}`), 1_000_000));
  expect(waits).toEqual([0, 0, 30_000, 60_000]);
  expect(pace.take(name('later'), 1_000_000 + 240_000)).toBe(0);
});

it('a namespace beyond its budget delays no other namespace within the cluster’s, and no other cluster', () => {
  const pace = new WakePace(limits);
  expect([1, 2, 3].map((i) => pace.take(name(`${i}`), 0))).toEqual([0, 0, 30_000]);
  expect(pace.take(name('web', 'other'), 0)).toBe(0);
  expect(pace.take(name('web', 'third'), 0)).toBe(15_000);
  expect(pace.take(name('web', 'shop', 'c'), 0)).toBe(0);
});

it('a wait is never longer than the queue allows', () => {
  const pace = new WakePace(limits);
  const waits = Array.from({ length: 1_000 }, () => pace.take(name('web'), 0));
  expect(waits.at(-1)).toBe(900_000);
});

it('a wake-up is pending until shortly before it is due', () => {
  const pace = new WakePace(limits);
  expect(pace.pendingMs(name('web'), 0)).toBe(0);
  pace.sent(name('web'), 10_000);
  expect([0, 8_999, 9_000, 20_000].map((nowMs) => pace.pendingMs(name('web'), nowMs))).toEqual([
    10_000, 1_001, 0, 0,
  ]);
  expect(pace.pendingMs({ ...name('web'), kind: 'export' }, 0)).toBe(0);
  expect(pace.pendingMs({ ...name('web'), clusters: ['a', 'b'] }, 0)).toBe(0);
});

it('a fresh change waits for no wake-up of other changes, and other changes wait for its wake-up', () => {
  const pace = new WakePace(limits);
  const fresh = { ...name('web'), isFresh: true };
  for (let i = 0; i < 1_000; i++) pace.take(name(`${i}`), 0);
  pace.sent(name('web'), 240_000);
  expect([pace.pendingMs(fresh, 0), pace.take(fresh, 0)]).toEqual([0, 0]);
  pace.sent(fresh, 2_000);
  expect([pace.pendingMs(fresh, 0), pace.pendingMs(name('web'), 0)]).toEqual([2_000, 2_000]);
  expect([1, 2].map((i) => pace.take({ ...name(`${i}`), isFresh: true }, 0))).toEqual([0, 30_000]);
});

it('an import is within the budget until its runs are spent, and a question spends none', () => {
  const pace = new WakePace({ ...limits, importsOfWorker: 2 });
  const of = (cluster: string, isFresh = false) => ({ cluster, isFresh });
  for (let i = 0; i < 10; i++) expect(pace.hasImport(of('a'), 0)).toBe(true);
  expect([1, 2].map(() => pace.takeImport(of('a'), 0))).toEqual([0, 0]);
  expect(pace.hasImport(of('a'), 0)).toBe(false);
  expect([of('b'), of('a', true)].map((each) => pace.hasImport(each, 0))).toEqual([true, true]);
  expect(pace.takeImport(of('a'), 0)).toBe(30_000);
  expect(pace.hasImport(of('a'), 60_000)).toBe(true);
});
