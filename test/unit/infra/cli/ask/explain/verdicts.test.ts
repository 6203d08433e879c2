/**
 * Compares the explanation with the decisions: for any pods and service the verdict on a pod equals the
 * written outputs.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainPods, type PodsInput } from '#infra/cli/ask/explain/explain-pods.ts';
import { endpointsPlaces, slicePlaces } from '#infra/cli/ask/explain/saved.ts';
import { writersFor } from '#shared/clusters/writer/writer-for.ts';
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import { decideSlices } from '#shared/controllers/slices/decide.ts';
import { podsAway } from '#shared/controllers/zones/pods-away.ts';
import { addressTypesOf } from '#shared/kube/address-types.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { Node, Pod, Service } from '#shared/kube/types.ts';
import { node, nodes, pod, service } from '#test/unit/shared/controllers/slices/fixtures.ts';
import { input } from './fixtures.ts';

const namedPorts = fc.constantFrom<
  readonly { readonly name: string; readonly containerPort: number; readonly protocol: string }[]
>(
  [],
  [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  [{ name: 'http', containerPort: 8080, protocol: 'UDP' }],
  [
    { name: 'http', containerPort: 8081, protocol: 'TCP' },
    { name: 'metrics', containerPort: 9090, protocol: 'TCP' },
  ],
);

const somePod = fc
  .record({
    id: fc.nat(60),
    labels: fc.constantFrom<{ readonly [key: string]: string } | undefined>(
      { app: 'a' },
      { app: 'a', tier: 'x' },
      { app: 'b' },
      { other: 'a' },
      undefined,
    ),
    ready: fc.constantFrom('True', 'False', 'Unknown', undefined),
    deleted: fc.boolean(),
    phase: fc.constantFrom('Running', 'Running', 'Running', 'Succeeded', 'Failed', 'Pending'),
    nodeName: fc.constantFrom('node-1', 'node-2', 'node-missing', undefined),
    ips: fc.constantFrom('4', '46', '64', '6', '', 'only podIP', 'bad'),
    ports: namedPorts,
  })
  .map(({ id, labels, ready, deleted, phase, nodeName, ips, ports }): Pod => {
    const ip = (family: string) => (family === '4' ? `10.0.0.${id + 1}` : `fd00::${(id + 1).toString(16)}`);
    const podIPs =
      ips === 'bad' ? [{ ip: '<nil>' }] : ips === 'only podIP' ? [] : [...ips].map((f) => ({ ip: ip(f) }));
    const podIP = ips === 'only podIP' ? ip('4') : podIPs[0]?.ip;
    return {
      metadata: {
        name: `pod-${id}`,
        namespace: 'ns',
        uid: `u${id}`,
        ...(labels && { labels }),
        ...(deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      },
      spec: { ...(nodeName && { nodeName }), containers: [{ name: 'c', ports: [...ports] }] },
      status: {
        phase,
        podIP,
        podIPs,
        ...(ready && {
          conditions: [{ type: 'Ready', status: ready, lastTransitionTime: '2026-01-01T00:00:00Z' }],
        }),
      },
    };
  });

const someService = fc
  .record({
    selector: fc.constantFrom<{ readonly [key: string]: string } | undefined>(
      { app: 'a' },
      { app: 'a', tier: 'x' },
      {},
      undefined,
    ),
    type: fc.constantFrom('ClusterIP', 'ClusterIP', 'ClusterIP', 'ExternalName'),
    ipFamilies: fc.constantFrom(['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4'], undefined),
    clusterIP: fc.constantFrom('10.0.0.1', 'fd00::1', 'None', undefined),
    publishNotReadyAddresses: fc.boolean(),
    targets: fc.constantFrom<readonly (string | number)[]>(
      ['http'],
      [80],
      [80, 'http'],
      ['http', 'metrics'],
      ['metrics'],
      [],
    ),
  })
  .map(({ targets, ...spec }): Service => {
    const ports = targets.map((targetPort, i) => ({
      name: `p${i}`,
      port: i + 1,
      targetPort,
      protocol: 'TCP',
    }));
    return service({ ...spec, ports });
  });

interface Decided {
  readonly pods: readonly Pod[];
  readonly service: Service;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly zonesAway?: ReadonlySet<string>;
}

const selectedBy = ({ spec }: Service, pods: readonly Pod[]): readonly Pod[] =>
  pods.filter((p) =>
    selectorMatches(spec?.type === 'ExternalName' ? undefined : spec?.selector, p.metadata.labels),
  );

function decided({ pods, service, nodes, zonesAway }: Decided) {
  const selected = selectedBy(service, pods);
  const common = {
    ...{ namespace: 'ns', name: 'foo', service, pods: selected, nodes, zonesAway },
    triggerTimes: undefined,
  };
  const endpoints = decideEndpoints({ ...common, current: undefined });
  const slices = decideSlices({ ...common, slices: [], hints: undefined, maxEndpointsPerSlice: 100 });
  return {
    endpoints: endpointsPlaces(endpoints.write?.verb === 'create' ? endpoints.write.object : undefined),
    slices: slicePlaces(slices.addressTypes.flatMap((t) => t.create)),
  };
}

function podsInput(more: Parameters<typeof input>[0]): PodsInput {
  const given = input(more);
  return { ...given, writers: writersFor(given.service, given.cluster) };
}

function expectConsistent(world: Decided): void {
  const written = decided(world);
  const { pods, service, nodes, zonesAway } = world;
  const { pods: out } = podsAway(service, { pods: selectedBy(service, pods), nodes, zonesAway });
  const away = new Map([...out].map((name) => [name, 'its zone is away']));
  const explained = explainPods({ ...podsInput({ pods, service, nodes }), away }, new Set());
  const expected = (name: string) => ({
    pod: name,
    endpoints: written.endpoints.get(name) ?? 'absent',
    slices: addressTypesOf(world.service).map((family) => [
      family,
      written.slices.get(family)?.get(name) ?? 'absent',
    ]),
  });
  expect(
    explained.map((e) => ({
      pod: e.pod,
      endpoints: e.endpoints.place,
      slices: e.slices.map((s) => [s.family, s.place]),
    })),
  ).toEqual(explained.map((e) => expected(e.pod)));
  const names = new Set(explained.map((e) => e.pod));
  for (const name of [
    ...written.endpoints.keys(),
    ...[...written.slices.values()].flatMap((m) => [...m.keys()]),
  ])
    expect(names).toContain(name);
  for (const { endpoints, slices } of explained)
    for (const { why } of [endpoints, ...slices]) expect(why).not.toBe('');
}

describe('the explanation of a pod', () => {
  it('the verdict on every pod equals the writes of both controllers', () => {
    const known = nodes(node('node-1', 'zone-a'), node('node-2', undefined, { ready: false }));
    const pods = fc.uniqueArray(somePod, { maxLength: 25, selector: (p) => p.metadata.name });
    fc.assert(
      fc.property(pods, someService, (pods, service) => expectConsistent({ pods, service, nodes: known })),
      { numRuns: 500 },
    );
  });

  it('the verdict equals the writes while a zone is away too', () => {
    const known = nodes(node('node-1', 'zone-a'), node('node-2', 'zone-b'));
    const pods = fc.uniqueArray(somePod, { maxLength: 25, selector: (p) => p.metadata.name });
    const zonesAway = new Set(['zone-a']);
    fc.assert(
      fc.property(pods, someService, (pods, service) =>
        expectConsistent({ pods, service, nodes: known, zonesAway }),
      ),
      { numRuns: 500 },
    );
  });

  it('the verdicts name the pods over the capacity of Endpoints', () => {
    const pods = Array.from({ length: 1_203 }, (_, i) => pod(i, { ready: i % 3 !== 0 }));
    expectConsistent({ pods, service: service(), nodes: nodes(node('node-1', undefined)) });
    const over = explainPods(podsInput({ pods }), new Set()).filter((e) => e.endpoints.place === 'absent');
    expect(over.length).toBe(203);
    expect(over[0]?.endpoints.why).toBe('over capacity: Endpoints list 1,000 of 1,203, ready ones first');
    expect(over.every((e) => e.slices[0]?.place !== 'absent')).toBe(true);
  });
});
