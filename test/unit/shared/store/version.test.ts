import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isResourceVersion } from '#shared/kube/resource-version-text.ts';
import { noVersion, resourceVersionOf, versionOf } from '#shared/store/version.ts';

const resourceVersion = fc.bigInt({ min: 0n, max: 10n ** 39n - 1n }).map(String);
const incarnation = fc.integer({ min: 0, max: 999_999 });

it('the order of the texts is the order of incarnations, then of the numbers', () => {
  fc.assert(
    fc.property(incarnation, resourceVersion, incarnation, resourceVersion, (i, a, j, b) => {
      const order = i !== j ? i - j : BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
      const [x, y] = [versionOf(i, a), versionOf(j, b)];
      expect(Math.sign(order)).toBe(x < y ? -1 : x > y ? 1 : 0);
    }),
  );
});

it('a version contains its parts, and every version is newer than none', () => {
  fc.assert(
    fc.property(incarnation, resourceVersion, (i, rv) => {
      const version = versionOf(i, rv);
      expect([Number(version.slice(0, 6)), resourceVersionOf(version)]).toEqual([i, rv]);
      expect(version > noVersion).toBe(true);
    }),
  );
});

it('a text that no conforming API server returns as a resourceVersion is refused', () => {
  for (const bad of ['', '-1', '01', '1e3', ' 1', '1 ', '١', '1'.repeat(40), 'abc', '0x1']) {
    expect(isResourceVersion(bad), bad).toBe(false);
    expect(() => versionOf(1, bad), bad).toThrow(/not a resourceVersion/);
  }
  expect(isResourceVersion(7)).toBe(false);
});
