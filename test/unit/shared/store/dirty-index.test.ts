import { expect, it } from 'vitest';
import { dirtyKeyOf, dirtyKeysOf } from '#shared/store/dirty-index.ts';

it('the services of a cluster are spread over its four keys of the index, so that none takes more than its share of the writes', () => {
  const keys = dirtyKeysOf('shop');
  expect(new Set(keys).size).toBe(4);
  const counts = new Map<string, number>();
  for (let i = 0; i < 10_000; i++) {
    const key = dirtyKeyOf('shop', `team-${i % 37}`, `service-${i}`);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  expect([...counts.keys()].sort()).toEqual([...keys].sort());
  for (const count of counts.values()) expect(count).toBeLessThan(0.3 * 10_000);
});

it('no key of the index is of two clusters, and a service stays under its own', () => {
  expect(dirtyKeysOf('shop').filter((key) => dirtyKeysOf('shop-1').includes(key))).toEqual([]);
  expect(dirtyKeyOf('shop', 'web', 'cart')).toBe(dirtyKeyOf('shop', 'web', 'cart'));
});
