import fc from 'fast-check';
import { expect, it } from 'vitest';
import { allKinds, type InputKind } from '#shared/kube/types.ts';
import { workKinds } from '#shared/kube/work-kinds.ts';
import {
  countsKey,
  escaped,
  namespaceKey,
  objectKey,
  objectOfKey,
  outputsOf,
  parseWorkKey,
  setKey,
  triggersOf,
  unescaped,
  workKey,
} from '#shared/store/keys.ts';

/** Names that no API server would let pass, and messages may carry. */
const hostile = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'a/b',
    'a#b',
    '%23',
    'c#WORK#a',
    '__proto__',
    '../x',
    'a%2Fb',
    '\u0000',
    'x'.repeat(253),
    '/',
    '#',
    '%',
  ),
);
const three = fc.tuple(hostile, hostile, hostile);
const someWork = fc.record({
  cluster: hostile,
  namespace: hostile,
  kind: fc.constantFrom(...workKinds),
  name: hostile,
});
const someService = fc.record({ cluster: hostile, namespace: hostile, name: hostile });

it('two services never share a key, with any names', () => {
  fc.assert(
    fc.property(someService, someService, (a, b) => {
      fc.pre(JSON.stringify(a) !== JSON.stringify(b));
      for (const of of [outputsOf, triggersOf]) expect(of(a)).not.toBe(of(b));
      expect(countsKey(a)).not.toEqual(countsKey(b));
    }),
  );
});

it('the key of a work item identifies its work', () => {
  fc.assert(
    fc.property(someWork, (work) => {
      expect(parseWorkKey(workKey(work).pk)).toEqual(work);
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

it('a name survives its key unchanged', () => {
  fc.assert(
    fc.property(hostile, (name) => {
      expect(unescaped(escaped(name))).toBe(name);
      expect(escaped(name)).not.toMatch(/[#/]/);
    }),
  );
});

const hostileObject = fc.record({ ns: hostile, name: hostile });

it('two objects of a cluster never share a key, and each key names its object', () => {
  const kinds = allKinds.filter(
    (kind): kind is InputKind => kind !== 'Endpoints' && kind !== 'EndpointSlice',
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      hostileObject,
      hostileObject,
      (kind, { ns, name }, { ns: otherNs, name: otherName }) => {
        const isCluster = kind === 'Node' || kind === 'Namespace';
        const [namespace, otherNamespace] = isCluster ? ['', ''] : [ns, otherNs];
        expect(objectOfKey(kind, namespace, objectKey('c', kind, namespace, name).sk)).toEqual({
          namespace,
          name,
        });
        fc.pre(namespace !== otherNamespace || name !== otherName);
        expect(objectKey('c', kind, namespace, name)).not.toEqual(
          objectKey('c', kind, otherNamespace, otherName),
        );
      },
    ),
  );
});

it('entries of two names of a set never share a key', () => {
  fc.assert(
    fc.property(three, three, ([ns, name, cluster], other) => {
      fc.pre(JSON.stringify([ns, name, cluster]) !== JSON.stringify(other));
      expect(setKey('s', ns, name, 'E', cluster)).not.toEqual(setKey('s', other[0], other[1], 'E', other[2]));
      expect(setKey('s', ns, name, 'E', cluster)).not.toEqual(setKey('s', other[0], other[1], 'O', other[2]));
    }),
  );
});
