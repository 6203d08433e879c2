import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { defaultLimits } from '#shared/contract/limits.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import { encodeParts, type ListedObject } from '#shared/queue/list-parts.ts';
import type { ListPartMessage } from '#shared/queue/messages.ts';

const list = {
  header: { v: 1, cluster: 'c', session: 's', uid: 'u', firstListVersion: '1' },
  kind: 'Pod',
  asOf: '9',
  listId: 'l',
} as const;
const listed = (key: string, projection = '["u"]'): ListedObject => ({
  key,
  entry: { namespace: 'n', name: key.slice(2), resourceVersion: '2', projection },
});
const decode = (bodies: readonly string[]) => bodies.map((body) => decodeMessage(body) as ListPartMessage);
const partsUpTo = (partBytes: number) => ({ ...defaultLimits, relay: { ...defaultLimits.relay, partBytes } });
const random = (bytes: number) => JSON.stringify([randomBytes(bytes).toString('base64')]);

it('a page is one part', () => {
  const { bodies } = encodeParts(list, [listed('n/a'), listed('n/b')], { from: 'm/z', to: 'n/b', first: 3 });
  const [part, ...others] = decode(bodies);
  expect(others).toEqual([]);
  expect(part).toMatchObject({
    type: 'list',
    kind: 'Pod',
    asOf: '9',
    listId: 'l',
    partNumber: 3,
    from: 'm/z',
    to: 'n/b',
  });
  expect(part).not.toHaveProperty('isLast');
});

it('a page that is too large becomes consecutive key ranges', () => {
  const page = Array.from({ length: 9 }, (_, i) => listed(`n/${i}`, random(1_000)));
  const { bodies } = encodeParts(list, page, { from: '', to: '', first: 0 }, partsUpTo(5_000));
  expect(bodies.length).toBeGreaterThan(2);
  expect(bodies.every((body) => body.length <= 5_000)).toBe(true);
  const parts = decode(bodies);
  expect(parts.flatMap((p) => p.entries.map((e) => e.name))).toEqual(page.map((o) => o.key.slice(2)));
  expect(parts.map((p) => p.partNumber)).toEqual(parts.map((_, i) => i));
  expect(parts.map((p) => p.isLast ?? false)).toEqual(parts.map((_, i) => i === parts.length - 1));
});

it('objects that are alike compress to almost nothing, and yet no part inflates to more than its limit', () => {
  const page = Array.from({ length: 285 }, (_, i) =>
    listed(`n/${1000 + i}`, JSON.stringify(['u', 'x'.repeat(62_000)])),
  );
  const { bodies, tooLarge } = encodeParts(list, page, { from: '', to: '', first: 0 });
  const parts = decode(bodies);
  for (const part of parts) expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan((4 << 20) + 1_000);
  expect(parts.flatMap((p) => p.entries)).toEqual(page.map((o) => o.entry));
  expect(tooLarge).toEqual([]);
});

it('a part names an object that is too large even alone', () => {
  const { bodies, tooLarge } = encodeParts(
    list,
    [listed('n/a'), listed('n/b', random(1_200_000)), listed('n/c')],
    { from: '', to: '', first: 0 },
  );
  expect(tooLarge).toEqual(['n/b']);
  expect(
    decode(bodies).map(({ from, to, entries, omitted }) => [from, to, entries.map((e) => e.name), omitted]),
  ).toEqual([
    ['', 'n/a', ['a'], undefined],
    ['n/a', 'n/b', [], ['n/b']],
    ['n/b', '', ['c'], undefined],
  ]);
});

it('every key is in the range of exactly one part, which has the object or names it', () => {
  const keys = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { maxLength: 40 });
  fc.assert(
    fc.property(
      keys,
      fc.func(fc.boolean()),
      fc.boolean(),
      fc.integer({ min: 300, max: 3_000 }),
      (found, isBroken, isLast, maxBytes) => {
        const page = found
          .sort()
          .map((name) => (isBroken(name) ? { key: `n/${name}`, entry: undefined } : listed(`n/${name}`)));
        const to = isLast ? '' : (page.at(-1)?.key ?? '');
        if (to === '' && !isLast) return;
        const parts = decode(encodeParts(list, page, { from: '', to, first: 0 }, partsUpTo(maxBytes)).bodies);
        const covers = ({ from, to: end }: ListPartMessage, key: string) =>
          from < key && (end === '' || key <= end);
        for (const { key } of page) expect(parts.filter((p) => covers(p, key))).toHaveLength(1);
        const ends = parts.map((p) => [p.from, p.to]);
        expect(ends.map(([from]) => from)).toEqual(
          ['', ...ends.slice(0, -1).map(([, end]) => end)].slice(0, ends.length),
        );
        expect(ends.at(-1)?.[1]).toBe(to);
        expect(parts.flatMap((p) => p.omitted ?? [])).toEqual(page.flatMap((o) => (o.entry ? [] : [o.key])));
        expect(parts.flatMap((p) => p.entries)).toEqual(page.flatMap((o) => o.entry ?? []));
        expect(parts.filter((p) => p.isLast)).toHaveLength(isLast ? 1 : 0);
      },
    ),
  );
});
