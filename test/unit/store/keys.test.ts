import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hintsKey, namespaceKey, objectKey, outputsOf, parseWorkKey, triggersOf, workKey } from '#shared/store/keys.ts';

/** Names that no API server would let pass, and messages may carry. */
const hostile = fc.oneof(
  fc.string(),
  fc.constantFrom('a/b', 'a#b', '%23', 'c#WORK#a', '__proto__', '../x', 'a%2Fb', '\u0000', 'x'.repeat(253), '/', '#', '%'),
);
const three = fc.tuple(hostile, hostile, hostile);

it('two services never share a key, whatever they are called', () => {
  fc.assert(
    fc.property(three, three, (a, b) => {
      fc.pre(JSON.stringify(a) !== JSON.stringify(b));
      for (const of of [outputsOf, triggersOf]) expect(of(...a)).not.toBe(of(...b));
      expect(workKey(...a).pk).not.toBe(workKey(...b).pk);
      expect(hintsKey(...a)).not.toEqual(hintsKey(...b));
    }),
  );
});

it('the key of a work item tells whose it is', () => {
  fc.assert(
    fc.property(three, ([cluster, namespace, service]) => {
      expect(parseWorkKey(workKey(cluster, namespace, service).pk)).toEqual({ cluster, namespace, service });
    }),
  );
});

it('objects of two namespaces or clusters never share a partition', () => {
  fc.assert(
    fc.property(hostile, hostile, hostile, hostile, (c, ns, otherC, otherNs) => {
      fc.pre(c !== otherC || ns !== otherNs);
      expect(objectKey(c, 'Pod', ns, 'p').pk).not.toBe(objectKey(otherC, 'Pod', otherNs, 'p').pk);
      expect(namespaceKey(c, ns)).not.toEqual(namespaceKey(otherC, otherNs));
    }),
  );
});

it('namespaces are ordered as the keys of their objects are in a list', () => {
  const names = ['a', 'a-b', 'a.b', 'a0', 'ab', 'b'];
  const byKey = [...names].sort((x, y) => (namespaceKey('c', x).sk < namespaceKey('c', y).sk ? -1 : 1));
  const byObject = [...names].sort((x, y) => (`${x}/pod` < `${y}/pod` ? -1 : 1));
  expect(byKey).toEqual(byObject);
});
