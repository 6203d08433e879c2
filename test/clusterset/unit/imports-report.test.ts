import { expect, it } from 'vitest';
import {
  changedLines,
  type ImportedObjects,
  importStates,
  nextPolled,
} from '#infra/clusterset/local/imports-report.ts';

const slice = (source: string, addressType: string, endpoints: number) => ({
  metadata: {
    namespace: 'shop',
    labels: {
      'multicluster.kubernetes.io/service-name': 'web',
      'multicluster.kubernetes.io/source-cluster': source,
    },
  },
  addressType,
  endpoints: Array.from({ length: endpoints }, () => ({ addresses: ['x'] })),
});
const imported = (
  slices: readonly object[],
  spec: object = { type: 'ClusterSetIP', ips: ['10.96.0.9', 'fd00::9'], ports: [] },
): ImportedObjects =>
  ({
    imports: [
      {
        metadata: {
          namespace: 'shop',
          name: 'web',
          annotations: { 'multicluster.kubernetes.io/derived-service': 'derived-x' },
        },
        spec,
      },
    ],
    slices,
  }) as unknown as ImportedObjects;
const lines = (imports: ImportedObjects) => importStates('a', imports);

it('an import is a line with its addresses, its derived Service, and the endpoints of each source; a pod of two families counts once', () => {
  const slices = [
    slice('c', 'IPv4', 2),
    slice('b', 'IPv4', 100),
    slice('b', 'IPv4', 1),
    slice('b', 'IPv6', 101),
  ];
  expect(lines(imported(slices)).map((l) => l.text)).toEqual([
    'shop/web in a (10.96.0.9, fd00::9, derived-x): 101 of b, 2 of c',
  ]);
  expect(lines(imported([], { type: 'Headless', ports: [] })).map((l) => l.text)).toEqual([
    'shop/web in a (headless, derived-x): no endpoints',
  ]);
});

it('an import is printed when two polls in a row find the same sources, and stays printed while they change', () => {
  const [none, one] = [lines(imported([])), lines(imported([slice('b', 'IPv4', 1)]))];
  let look = nextPolled({ seen: [], printed: [] }, none);
  expect(look.printed).toEqual([]);
  look = nextPolled(look, one);
  expect(look.printed).toEqual([]);
  look = nextPolled(look, one);
  expect(look.printed).toEqual(one);
  expect(nextPolled(look, none).printed).toEqual(one);
  expect(nextPolled(look, []).printed).toEqual([]);
});

it('an import is printed again when a source is added or removed, and not for a change of its endpoints', () => {
  const [one, two] = [lines(imported([slice('b', 'IPv4', 1)])), lines(imported([slice('b', 'IPv4', 7)]))];
  const both = lines(imported([slice('b', 'IPv4', 7), slice('c', 'IPv4', 1)]));
  expect(changedLines([], one)).toEqual(['import: shop/web in a (10.96.0.9, fd00::9, derived-x): 1 of b']);
  expect(changedLines(one, two)).toEqual([]);
  expect(changedLines(two, both)).toEqual([
    'import: shop/web in a (10.96.0.9, fd00::9, derived-x): 7 of b, 1 of c',
  ]);
  expect(changedLines(both, [])).toEqual(['import gone: shop/web in a']);
});
