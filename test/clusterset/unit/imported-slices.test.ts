import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MergedExports, mergeExports } from '#shared/clusterset/exports/merge.ts';
import {
  type ImportSource,
  planImportedSlices,
  type ToImport,
} from '#shared/clusterset/imports/imported-slices.ts';
import type { Locality } from '#shared/clusterset/imports/locality.ts';
import { choosePods } from '#shared/clusterset/imports/source-pods.ts';
import type { SourceState } from '#shared/clusterset/imports/source-state.ts';
import type { SlicesPlan } from '#shared/controllers/slices/plan.ts';
import { assignName } from '#shared/controllers/slices/slice-name.ts';
import { parseCidr } from '#shared/kube/cidr.ts';
import { importsManagedBy, labelSourceCluster } from '#shared/kube/names.ts';
import type { EndpointSlice, Pod, Service } from '#shared/kube/types.ts';
import { hasWork } from '#test/support/slices-work.ts';
import { derivedService, exported, http, nodeIn, pod, webService } from './fixtures.ts';

interface SourceOptions {
  readonly state?: SourceState;
  readonly spec?: Service['spec'];
  readonly podCidrs?: readonly string[];
  readonly zone?: string;
}

const source = (
  cluster: string,
  pods: readonly Pod[],
  { state = 'fresh', spec = {}, podCidrs, zone = `${cluster}-1` }: SourceOptions = {},
): ImportSource => ({
  cluster,
  state,
  exported: { service: webService(spec), pods, nodes: new Map([['node-1', nodeIn(zone)]]) },
  podCidrs: podCidrs?.flatMap((text) => parseCidr(text) ?? []),
});

const inZone = (name: string, ip: string, zone: string, ready = true): Pod =>
  pod(name, ip, { node: `node-${zone}`, ready });

const specOf = ({ exported: e }: ImportSource) => e?.service.spec ?? {};

const toImport = (
  sources: readonly ImportSource[],
  slices: readonly EndpointSlice[] = [],
  more: Partial<ToImport> = {},
): ToImport => ({
  name: 'web',
  derived: derivedService(),
  merged: mergeExports(sources.map((s) => exported(s.cluster, specOf(s)))) as MergedExports,
  sources,
  importer: { cluster: 'a', zones: [] },
  slices,
  maxEndpointsPerSlice: 100,
  ...more,
});

let version = 0;

/** The slices once the plan is carried out. */
function carriedOut(input: ToImport): readonly EndpointSlice[] {
  const { plans, withdrawn } = planImportedSlices(input);
  const slices = new Map(input.slices.map((s) => [s.metadata.name, s]));
  const store = (slice: EndpointSlice): void => {
    const { name } = slice.metadata;
    slices.set(name, {
      ...slice,
      metadata: { uid: `uid-${name}`, ...slice.metadata, resourceVersion: String(++version) },
    });
  };
  for (const plan of plans.values())
    for (const type of plan.addressTypes) {
      for (const draft of type.create) store(assignName(draft, 'derived-uid', new Set(slices.keys())));
      for (const slice of type.update) store(slice);
      for (const { metadata } of type.delete) slices.delete(metadata.name);
    }
  for (const { metadata } of withdrawn) slices.delete(metadata.name);
  return [...slices.values()];
}

/** Source cluster, addresses. */
const view = (slices: readonly EndpointSlice[]): readonly string[] =>
  slices
    .flatMap((s) =>
      (s.endpoints ?? []).map(
        (e) => `${s.metadata.labels?.[labelSourceCluster]} ${e.addresses.join()} ${e.conditions?.ready}`,
      ),
    )
    .sort();

describe('the slices of an import', () => {
  it('the slices of an import are one source’s each, with its labels and ours, owned by the derived Service (MC-5, MC-20)', () => {
    const slices = carriedOut(
      toImport([source('b', [pod('p', '10.2.0.1')]), source('c', [pod('p', '10.3.0.1')])]),
    );
    expect(view(slices)).toEqual(['b 10.2.0.1 true', 'c 10.3.0.1 true']);
    const { name } = derivedService().metadata;
    expect(slices[0]?.metadata.labels).toEqual({
      'kubernetes.io/service-name': name,
      'endpointslice.kubernetes.io/managed-by': importsManagedBy,
      'multicluster.kubernetes.io/service-name': 'web',
      'multicluster.kubernetes.io/source-cluster': 'b',
      'app.kubernetes.io/managed-by': 'fleet-endpoints',
    });
    expect(slices[0]?.metadata.ownerReferences).toMatchObject([
      { kind: 'Service', name, uid: 'derived-uid', controller: true },
    ]);
    expect(slices[0]?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
  });

  it.each<[string, readonly Pod[], readonly Pod[], readonly string[]]>([
    [
      'pods elsewhere in its cluster',
      [inZone('p', '10.2.0.1', 'a'), inZone('q', '10.2.0.2', 'b')],
      [],
      ['10.2.0.2'],
    ],
    ['pods of another source alone', [inZone('p', '10.2.0.1', 'a')], [pod('p', '10.3.0.1')], ['10.3.0.1']],
    ['no other pod', [inZone('p', '10.2.0.1', 'a')], [], ['10.2.0.1']],
    [
      'no other pod that is ready',
      [inZone('p', '10.2.0.1', 'a'), inZone('q', '10.2.0.2', 'b', false)],
      [pod('p', '10.3.0.1', { ready: false })],
      ['10.2.0.1', '10.2.0.2', '10.3.0.1'],
    ],
    [
      'a ready pod elsewhere whose address another source has',
      [inZone('p', '10.2.0.1', 'a')],
      [pod('p', '10.9.0.1')],
      ['10.2.0.1'],
    ],
  ])('a zone that is away in its own cluster leaves an import with %s', (_, ofB, ofC, expected) => {
    const nodes = new Map(['a', 'b'].map((zone) => [`node-${zone}`, nodeIn(zone, `node-${zone}`)]));
    const { exported: read, ...b } = source('b', ofB);
    const sources = [
      { ...b, exported: { ...(read as NonNullable<typeof read>), nodes }, zonesAway: new Set(['a']) },
      // The zone of the same name in another cluster is another one.
      source('c', ofC, { zone: 'a', podCidrs: ['10.3.0.0/16'] }),
    ];
    const addresses = carriedOut(toImport(sources)).flatMap((s) =>
      (s.endpoints ?? []).flatMap((e) => e.addresses),
    );
    expect([...addresses].sort()).toEqual(expected);
  });

  it('the slices of an import have the appProtocol of the export with precedence, and the pods of an export with another one', () => {
    const h2c = { ports: [{ ...http, appProtocol: 'kubernetes.io/h2c' }] };
    const slices = carriedOut(
      toImport([source('b', [pod('p', '10.2.0.1')]), source('c', [pod('p', '10.3.0.1')], { spec: h2c })]),
    );
    expect(view(slices)).toEqual(['b 10.2.0.1 true', 'c 10.3.0.1 true']);
    for (const { ports } of slices) expect(ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
    const reverse = carriedOut(
      toImport([source('b', [pod('p', '10.2.0.1')], { spec: h2c }), source('c', [pod('p', '10.3.0.1')])]),
    );
    for (const { ports } of reverse)
      expect(ports).toEqual([
        { name: 'http', port: 8080, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' },
      ]);
    expect(reverse).toHaveLength(2);
  });

  it('the slices of an import name no pod and no node of the source, and have its zone (MC-64)', () => {
    const [slice] = carriedOut(toImport([source('b', [pod('p', '10.2.0.1')])]));
    expect(slice?.endpoints).toEqual([
      {
        addresses: ['10.2.0.1'],
        conditions: { ready: true, serving: true, terminating: false },
        zone: 'b-1',
      },
    ]);
  });

  it('the slices of an import carry serving and terminating as they are (MC-75)', () => {
    const [slice] = carriedOut(toImport([source('b', [pod('p', '10.2.0.1', { deleting: true })])]));
    expect(slice?.endpoints?.[0]?.conditions).toEqual({ ready: false, serving: true, terminating: true });
  });

  it('the slices of an import hold a pod whose node is not known to the hub, without a zone', () => {
    const [slice] = carriedOut(toImport([source('b', [pod('p', '10.2.0.1', { node: 'new' })])]));
    expect(slice?.endpoints).toEqual([
      { addresses: ['10.2.0.1'], conditions: { ready: true, serving: true, terminating: false } },
    ]);
  });

  it('the slices of an import keep the hostnames that the exported Service gives (MC-35)', () => {
    const named = pod('web-0', '10.2.0.1', {
      spec: { nodeName: 'node-1', hostname: 'web-0', subdomain: 'web', containers: [] },
    });
    const derived = derivedService({ clusterIP: 'None', clusterIPs: ['None'] });
    const [slice] = carriedOut(
      toImport([source('b', [named], { spec: { clusterIP: 'None' } })], [], { derived }),
    );
    expect(slice?.endpoints?.[0]?.hostname).toBe('web-0');
    expect(slice?.metadata.labels?.['service.kubernetes.io/headless']).toBe('');
  });

  it('the slices of an import have names of their own for each source', () => {
    const slices = carriedOut(
      toImport([source('b', [pod('p', '10.2.0.1')]), source('c', [pod('p', '10.3.0.1')])]),
    );
    expect(new Set(slices.map((s) => s.metadata.name)).size).toBe(2);
  });

  it('the slices of an import are none of a source without pods: no placeholder', () => {
    expect(carriedOut(toImport([source('b', [])]))).toEqual([]);
  });

  it('the slices of an import are not written again when they are as they should be (MC-57)', () => {
    const input = toImport([
      source('b', [pod('p', '10.2.0.1'), pod('q', ['10.2.0.2', 'fd00::2'])]),
      source('c', [pod('p', '10.3.0.1')]),
    ]);
    const { plans, withdrawn } = planImportedSlices({ ...input, slices: carriedOut(input) });
    expect([...plans.values()].map(hasWork)).toEqual([false, false]);
    expect(withdrawn).toEqual([]);
  });

  it('the slices of an import of a source without an export are deleted, and the others stay unchanged (MC-81)', () => {
    const [b, c] = [source('b', [pod('p', '10.2.0.1')]), source('c', [pod('p', '10.3.0.1')])];
    const before = carriedOut(toImport([b, c]));
    const plan = planImportedSlices(toImport([c], before));
    expect(plan.withdrawn.map((s) => s.metadata.labels?.[labelSourceCluster])).toEqual(['b']);
    expect(hasWork(plan.plans.get('c') as SlicesPlan)).toBe(false);
  });

  it('the slices of an import have of each source the ports that the import exposes of it, and a source with none of them is not there (MC-15)', () => {
    const other = { name: 'metrics', port: 9090, protocol: 'TCP', targetPort: 9090 };
    const sources = [
      source('b', [pod('p', '10.2.0.1')], { spec: { ports: [http] } }),
      source('c', [pod('p', '10.3.0.1')], { spec: { ports: [{ ...http, port: 81 }, other] } }),
      source('d', [pod('p', '10.4.0.1')], { spec: { ports: [{ ...http, port: 82 }] } }),
    ];
    const slices = carriedOut(toImport(sources));
    const ports = slices.map((s) => [s.metadata.labels?.[labelSourceCluster], s.ports?.map((p) => p.name)]);
    expect(ports).toEqual([
      ['b', ['http']],
      ['c', ['metrics']],
    ]);
  });
});

describe('a source that is silent', () => {
  it('a silent source keeps its slices unchanged, independent of the hub’s state of its pods (MC-70)', () => {
    const before = carriedOut(
      toImport([source('b', [pod('p', '10.2.0.1')]), source('c', [pod('p', '10.3.0.1')])]),
    );
    const plan = planImportedSlices(
      toImport([source('b', [], { state: 'silent' }), source('c', [pod('p', '10.3.0.1')])], before),
    );
    expect([...plan.plans.keys()]).toEqual(['c']);
    expect(plan.withdrawn).toEqual([]);
  });

  it('a source that is silent keeps an address that another source comes with', () => {
    const before = carriedOut(toImport([source('b', [pod('p', '10.2.0.1')])]));
    const input = toImport(
      [source('a', [pod('p', '10.2.0.1')]), source('b', [], { state: 'silent' })],
      before,
    );
    expect(planImportedSlices(input).leftOut).toMatchObject([
      { cluster: 'a', reason: { kind: 'collision', with: { cluster: 'b' } } },
    ]);
    expect(view(carriedOut(input))).toEqual(['b 10.2.0.1 true']);
  });

  it('a source that is silent and evicted goes, unless nothing else is ready (MC-72)', () => {
    const before = carriedOut(
      toImport([source('b', [pod('p', '10.2.0.1')]), source('c', [pod('p', '10.3.0.1')])]),
    );
    const withOther = (ready: boolean) =>
      toImport(
        [source('b', [], { state: 'evicted' }), source('c', [pod('p', '10.3.0.1', { ready })])],
        before,
      );
    expect(view(carriedOut(withOther(true)))).toEqual(['c 10.3.0.1 true']);
    expect(view(carriedOut(withOther(false)))).toEqual(['b 10.2.0.1 true', 'c 10.3.0.1 false']);
    expect(planImportedSlices(withOther(false)).held).toEqual(['b']);
  });

  it('a source that is evicted stays while it alone is ready for a port, or for a family that the derived Service has', () => {
    const dual = {
      derived: derivedService({ clusterIPs: ['10.96.7.7', 'fd00::7'], ipFamilies: ['IPv4', 'IPv6'] }),
    };
    const both = (port: number): Service['spec'] => ({
      ports: [http, { name: 'grpc', port, targetPort: port, protocol: 'TCP' }],
    });
    const heldWith = (
      before: ImportSource,
      other: ImportSource,
      more: Partial<ToImport> = {},
      after = more,
    ): readonly string[] => {
      const slices = carriedOut(toImport([before], [], more));
      return planImportedSlices(toImport([{ ...before, state: 'evicted' }, other], slices, after)).held;
    };
    const twoPorts = source('b', [pod('p', '10.2.0.1')], { spec: both(9090) });
    expect(heldWith(twoPorts, source('c', [pod('q', '10.3.0.1')]))).toEqual(['b']);
    expect(heldWith(twoPorts, source('c', [pod('q', '10.3.0.1')], { spec: both(9090) }))).toEqual([]);
    const twoFamilies = source('b', [pod('p', ['10.2.0.1', 'fd00:2::1'])]);
    expect(heldWith(twoFamilies, source('c', [pod('q', '10.3.0.1')]), dual)).toEqual(['b']);
    expect(heldWith(twoFamilies, source('c', [pod('q', ['10.3.0.1', 'fd00:3::1'])]), dual)).toEqual([]);
    expect(heldWith(twoFamilies, source('c', [pod('q', '10.3.0.1')]), dual, {})).toEqual([]);
  });
});

describe('an address', () => {
  it('an address outside of its cluster’s own ranges is left out (MC-61)', () => {
    const input = toImport([
      source('b', [pod('p', '10.2.0.1'), pod('forged', '10.99.0.1')], { podCidrs: ['10.2.0.0/16'] }),
    ]);
    expect(view(carriedOut(input))).toEqual(['b 10.2.0.1 true']);
    expect(planImportedSlices(input).leftOut).toEqual([
      { cluster: 'b', pod: 'forged', address: '10.99.0.1', reason: { kind: 'outside-cidrs' } },
    ]);
  });

  it('an address of two sources is written for the one with precedence alone (MC-84)', () => {
    const input = toImport([
      source('c', [pod('p', '10.2.0.1')]),
      source('b', [pod('q', '10.2.0.1', { ready: false })]),
    ]);
    expect(view(carriedOut(input))).toEqual(['b 10.2.0.1 false']);
    expect(planImportedSlices(input).leftOut).toEqual([
      {
        cluster: 'c',
        pod: 'p',
        address: '10.2.0.1',
        reason: { kind: 'collision', with: { cluster: 'b', pod: 'q' } },
      },
    ]);
  });

  it('an address is that of the pod that is ready, where a source has two pods with it', () => {
    const input = toImport([
      source('b', [pod('a-old', '10.2.0.1', { deleting: true }), pod('b-new', '10.2.0.1')]),
    ]);
    expect(view(carriedOut(input))).toEqual(['b 10.2.0.1 true']);
  });

  it.each([
    ['each source has the same share', { ready: [4, 4], others: [0, 0] }, 5, [3, 2]],
    ['what a source does not need is for the others', { ready: [1, 9, 9], others: [0, 0, 0] }, 10, [1, 5, 4]],
    ['pods that serve come first', { ready: [0, 2], others: [9, 9] }, 5, [2, 3]],
    ['there is room for all', { ready: [2, 1], others: [1, 0] }, 5, [3, 1]],
  ])('the room of an import is shared: %s', (_, { ready, others }, most, expected) => {
    const sources = ready.map((n, i) => ({
      cluster: `c${i}`,
      service: webService(),
      pods: Array.from({ length: n + (others[i] as number) }, (_, p) =>
        pod(`p${p}`, `10.${i}.0.${p}`, { ready: p < n }),
      ),
      podCidrs: undefined,
    }));
    const chosen = choosePods(sources, [], most);
    expect([...chosen.pods.values()].map((pods) => pods.length)).toEqual(expected);
    const all = ready.reduce((sum, n, i) => sum + n + (others[i] as number), 0);
    expect(chosen.leftOut).toHaveLength(Math.max(0, all - most));
  });

  it('an address is left out beyond the most that an import holds (MC-59)', () => {
    const pods = [pod('a', '10.2.0.1'), pod('b', '10.2.0.2'), pod('c', '10.2.0.3')];
    const chosen = choosePods([{ cluster: 'b', service: webService(), pods, podCidrs: undefined }], [], 2);
    expect(chosen.leftOut).toEqual([
      { cluster: 'b', pod: 'c', address: '10.2.0.3', reason: { kind: 'too-many' } },
    ]);
  });
});

const podArbitrary = fc
  .record({ id: fc.nat(12), ip: fc.nat(8), ready: fc.boolean(), deleting: fc.boolean(), dual: fc.boolean() })
  .map(({ id, ip, ready, deleting, dual }) =>
    pod(`pod-${id}`, dual ? [`10.0.0.${ip}`, `fd00::${ip}`] : `10.0.0.${ip}`, { ready, deleting }),
  );
const sourceArbitrary = fc.record({
  pods: fc.uniqueArray(podArbitrary, { maxLength: 8, selector: (p) => p.metadata.name }),
  state: fc.constantFrom<SourceState>('fresh', 'fresh', 'silent', 'evicted'),
  port: fc.constantFrom(80, 80, 81),
});
const sourcesArbitrary = fc
  .array(sourceArbitrary, { minLength: 1, maxLength: 4 })
  .map((all) =>
    all.map(({ pods, state, port }, i) =>
      source(`c${i}`, pods, { state, spec: { ports: [{ ...http, port }] } }),
    ),
  );

const localityArbitrary = fc.constantFrom<Locality | undefined>(
  undefined,
  { prefer: 'zone' },
  { prefer: 'local' },
  { prefer: 'local', minLocal: 50 },
);
const stateArbitrary = fc.record({ sources: sourcesArbitrary, locality: localityArbitrary });
const importerArbitrary = fc.record({
  cluster: fc.constantFrom('c0', 'c1', 'other'),
  zones: fc.constantFrom([], ['c0-1'], ['c0-1', 'c1-1']),
});

describe('any change from one state of the sources to another', () => {
  const preferring = (input: ToImport, locality: Locality | undefined): ToImport => ({
    ...input,
    merged: { ...input.merged, ...(locality && { locality }) },
  });
  const settle = (input: ToImport): ToImport => ({ ...input, slices: carriedOut(input) });
  const derived = derivedService({ clusterIPs: ['10.96.7.7', 'fd00::7'], ipFamilies: ['IPv4', 'IPv6'] });

  it('any change of the sources comes to rest after one run, with no address and port in two endpoints, and leaves slices of silent sources alone', () => {
    fc.assert(
      fc.property(
        stateArbitrary,
        stateArbitrary,
        importerArbitrary,
        ({ sources: first, locality: was }, { sources: second, locality: is }, importer) => {
          const fresh = first.map((s): ImportSource => ({ ...s, state: 'fresh' }));
          const before = settle(preferring(toImport(fresh, [], { derived, importer }), was));
          const now = preferring(toImport(second, before.slices, { derived, importer }), is);
          // Open: a silent source without slices may claim the address that would let an evicted one go. The
          // second run then lets it go.
          const hasSlices = new Set(before.slices.map((s) => s.metadata.labels?.[labelSourceCluster]));
          fc.pre(
            !second.some((s) => s.state === 'evicted') ||
              !second.some((s) => s.state === 'silent' && !hasSlices.has(s.cluster)),
          );
          const then = settle(now);
          const again = planImportedSlices({ ...now, slices: then.slices });
          expect([...again.plans.values()].some(hasWork)).toBe(false);
          expect(again.withdrawn).toEqual([]);

          const seen = then.slices.flatMap((s) =>
            (s.endpoints ?? [])
              .flatMap((e) => e.addresses)
              .flatMap((a) => (s.ports ?? []).map((p) => `${a} ${p.port}`)),
          );
          expect(new Set(seen).size).toBe(seen.length);

          const of = (slices: readonly EndpointSlice[], cluster: string) =>
            slices.filter((s) => s.metadata.labels?.[labelSourceCluster] === cluster);
          const kept = second.filter(
            ({ cluster, state }) => state === 'silent' && of(before.slices, cluster).length > 0,
          );
          for (const { cluster } of kept)
            expect(of(then.slices, cluster)).toEqual(of(before.slices, cluster));

          // Hints count only if each ready endpoint of the family has them, so otherwise the slices of a run
          // have none.
          for (const family of ['IPv4', 'IPv6'] as const) {
            const own = then.slices.filter((s) => s.addressType === family);
            const ready = own.flatMap((s) => (s.endpoints ?? []).filter((e) => e.conditions?.ready));
            if (ready.every((e) => e.hints)) continue;
            const written = own.filter((s) =>
              now.sources.some(
                (o) => o.state === 'fresh' && o.cluster === s.metadata.labels?.[labelSourceCluster],
              ),
            );
            expect(written.flatMap((s) => (s.endpoints ?? []).filter((e) => e.hints))).toEqual([]);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
