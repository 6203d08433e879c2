import { expect, it } from 'vitest';
import { defaultLimits } from '#shared/contract/limits.ts';
import { WakePace } from '#shared/workqueue/wake-pace.ts';

const limits = { ...defaultLimits.sync, wakesOfCluster: 4, wakesOfNamespace: 2 };
const name = (work: string, namespace = 'shop', cluster = 'b') => ({ cluster, namespace, work, clusters: ['a'] });

it('a namespace spends a minute’s wake-ups at once, and then one at a time', () => {
  const pace = new WakePace(limits);
  const waits = Array.from({ length: 4 }, (_, i) => pace.take(name(`import:${i}`), 1_000_000));
  expect(waits).toEqual([0, 0, 30_000, 60_000]);
  expect(pace.take(name('import:later'), 1_000_000 + 240_000)).toBe(0);
});

it('a namespace beyond its budget delays no other namespace within the cluster’s, and no other cluster', () => {
  const pace = new WakePace(limits);
  expect([1, 2, 3].map((i) => pace.take(name(`import:${i}`), 0))).toEqual([0, 0, 30_000]);
  expect(pace.take(name('import:web', 'other'), 0)).toBe(0);
  expect(pace.take(name('import:web', 'third'), 0)).toBe(15_000);
  expect(pace.take(name('import:web', 'shop', 'c'), 0)).toBe(0);
});

it('a wait is never longer than the queue allows', () => {
  const pace = new WakePace(limits);
  const waits = Array.from({ length: 1_000 }, () => pace.take(name('import:web'), 0));
  expect(waits.at(-1)).toBe(900_000);
});

it('a wake-up is pending until shortly before it is due', () => {
  const pace = new WakePace(limits);
  expect(pace.pendingMs(name('import:web'), 0)).toBe(0);
  pace.sent(name('import:web'), 10_000);
  expect([0, 8_999, 9_000, 20_000].map((nowMs) => pace.pendingMs(name('import:web'), nowMs))).toEqual([10_000, 1_001, 0, 0]);
  expect(pace.pendingMs(name('export:web'), 0)).toBe(0);
  expect(pace.pendingMs({ ...name('import:web'), clusters: ['a', 'b'] }, 0)).toBe(0);
});

it('an import is within the budget until its runs are spent, and a question spends none', () => {
  const pace = new WakePace({ ...limits, importsOfWorker: 2 });
  for (let i = 0; i < 10; i++) expect(pace.hasImport('a', 0)).toBe(true);
  expect([1, 2].map(() => pace.takeImport('a', 0))).toEqual([0, 0]);
  expect(pace.hasImport('a', 0)).toBe(false);
  expect(pace.hasImport('b', 0)).toBe(true);
  expect(pace.takeImport('a', 0)).toBe(30_000);
  expect(pace.hasImport('a', 60_000)).toBe(true);
});
