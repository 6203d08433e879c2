import fc from 'fast-check';
import { expect, it } from 'vitest';
import { edited, editOf } from '#shared/store/outputs/text-edit.ts';

const texts = fc
  .array(fc.constantFrom('a,', 'b,', '{"c":1,', '"c":2},', ',', 'd', '"e,é"'))
  .map((pieces) => pieces.join(''));

it('a text and its edit give the text that came after it', () => {
  fc.assert(fc.property(texts, texts, (former, text) => edited(former, editOf(former, text)) === text));
});

it('the numbers of an edit, which is stored, count pieces that end with a comma', () => {
  fc.assert(
    fc.property(texts, fc.nat(8), fc.nat(8), (former, from, count) => {
      const pieces = former.split(/(?<=,)/);
      expect(edited(former, [from, count, 'x'])).toBe(`${pieces.slice(from, from + count).join('')}x`);
    }),
  );
});

it('an address that becomes unready is an edit of a few hundred characters, however many addresses there are', () => {
  const address = (i: number) => ({
    ip: `10.1.${i >> 8}.${i & 255}`,
    nodeName: `node-${i % 7}`,
    targetRef: { kind: 'Pod', name: `p-${i}`, uid: `u-${i}` },
  });
  const all = Array.from({ length: 1_000 }, (_, i) => address(i));
  const text = (ready: readonly object[], unready: readonly object[]): string =>
    JSON.stringify({
      metadata: { name: 'svc', resourceVersion: '7' },
      subsets: [{ addresses: ready, notReadyAddresses: unready, ports: [{ port: 80 }] }],
    });
  const before = text(all, [all[3] as object]);
  const after = text(all.toSpliced(500, 1), [all[3] as object, all[500] as object]);
  expect(JSON.stringify(editOf(before, after)).length).toBeLessThan(300);
  expect(edited(before, editOf(before, after))).toBe(after);
});
