/** Which pods leave the endpoints of a Service while zones are away. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import { decideSlices } from '#shared/controllers/slices/decide.ts';
import { podsAway } from '#shared/controllers/zones/pods-away.ts';
import { annotationTriggerTime } from '#shared/kube/names.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { podsArbitrary, serviceArbitrary } from '../slices/arbitraries.ts';
import { carryOut, input, node, nodes, type PodOptions, pod, service } from '../slices/fixtures.ts';

const inZones = nodes(
  node('node-a', 'a'),
  node('node-b', 'b'),
  node('node-c', 'c'),
  node('node-0', undefined),
);

const inA = (n: number, options?: PodOptions) => pod(n, { node: 'node-a', ...options });
const inB = (n: number, options?: PodOptions) => pod(n, { node: 'node-b', ...options });

const named = (...pods: readonly Pod[]) => new Set(pods.map((p) => p.metadata.name));

const withPort = (name: string): PodOptions['spec'] => ({
  nodeName: '',
  containers: [{ name: 'c', ports: [{ name, containerPort: 8080, protocol: 'TCP' }] }],
});
const onPort = (n: number, nodeName: string, port: string) =>
  pod(n, { spec: { ...withPort(port), nodeName } as NonNullable<PodOptions['spec']> });

const twoPorts = service({
  ports: [
    { name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' },
    { name: 'grpc', port: 90, targetPort: 'grpc', protocol: 'TCP' },
  ],
});
const dual = service({ ipFamilies: ['IPv4', 'IPv6'] });
const both = { ips: ['10.1.0.1', 'fd00::1'] };
const publishing = service({ publishNotReadyAddresses: true, clusterIP: 'None' });

describe('podsAway', () => {
  it.for<[string, Service, readonly Pod[], 'leaves' | 'held' | 'nobody', (readonly string[])?]>([
    ['a ready pod in another zone', service(), [inA(1), inB(2)], 'leaves'],
    ['a ready pod on a node without a zone', service(), [inA(1), pod(2, { node: 'node-0' })], 'leaves'],
    ['no other pod', service(), [inA(1)], 'held'],
    ['pods in other zones that are not ready', service(), [inA(1), inB(2, { ready: false })], 'held'],
    ['a ready pod elsewhere that terminates', service(), [inA(1), inB(2, { deleted: true })], 'held'],
    ['a ready pod on a node that is not known', service(), [inA(1), pod(2, { node: 'x' })], 'held'],
    ['a pod elsewhere that has ended', service(), [inA(1), inB(2, { phase: 'Failed' })], 'held'],
    ['another zone that is away too', service(), [inA(1), inB(2)], 'held', ['a', 'b']],
    ['no ready pod at all', service(), [inA(1, { ready: false }), inB(2, { ready: false })], 'held'],
    ['nothing ready in the zone itself', service(), [inA(1, { ready: false }), inB(2)], 'leaves'],
    [
      'a pod of the zone that still serves, and none elsewhere',
      service(),
      [inA(1, { deleted: true })],
      'held',
    ],
    [
      'the other port elsewhere',
      twoPorts,
      [onPort(1, 'node-a', 'http'), onPort(2, 'node-b', 'grpc')],
      'held',
    ],
    [
      'the same port elsewhere',
      twoPorts,
      [onPort(1, 'node-a', 'http'), onPort(2, 'node-b', 'http')],
      'leaves',
    ],
    ['one family elsewhere', dual, [inA(1, both), inB(2)], 'held'],
    ['both families elsewhere', dual, [inA(1), inB(2, both)], 'leaves'],
    [
      'a family that the Service has not',
      service({ ipFamilies: ['IPv4'] }),
      [inA(1, both), inB(2)],
      'leaves',
    ],
    ['pods that are published unready', publishing, [inA(1), inB(2, { ready: false })], 'leaves'],
    ['no pod in the zone', service(), [inB(1), inB(2)], 'nobody'],
    ['a zone without nodes', service(), [inA(1), inB(2)], 'nobody', ['z']],
    ['nodes without zones', service(), [pod(1, { node: 'node-0' }), inB(2)], 'nobody', ['']],
    ['no zone', service(), [inA(1), inB(2)], 'nobody', []],
  ])('with %s', ([_, of, pods, expected, zones = ['a']]) => {
    const { pods: out, isHeld } = podsAway(of, { pods, nodes: inZones, zonesAway: new Set(zones) });
    expect(out).toEqual(expected === 'leaves' ? named(pods[0] as Pod) : new Set());
    expect(isHeld).toBe(expected === 'held');
  });

  it('all pods of the zone leave together, ready or not', () => {
    const pods = [
      inA(1),
      inA(2, { ready: false }),
      inA(3, { deleted: true }),
      inB(4),
      inB(5, { ready: false }),
    ];
    const { pods: out } = podsAway(service(), { pods, nodes: inZones, zonesAway: new Set(['a']) });
    expect(out).toEqual(named(...pods.slice(0, 3)));
  });
});

/** By family and port name, for which there is a ready endpoint. */
const readyIn = (plan: ReturnType<typeof decideSlices>): readonly string[] =>
  plan.addressTypes.flatMap(({ addressType, create }) =>
    create.flatMap(({ ports, endpoints }) =>
      (endpoints ?? []).some((e) => e.conditions?.ready)
        ? (ports ?? []).map((port) => `${addressType} ${port.name}`)
        : [],
    ),
  );

const podsIn = (plan: ReturnType<typeof decideSlices>): readonly string[] =>
  plan.addressTypes.flatMap(({ create }) =>
    create.flatMap(({ endpoints }) => (endpoints ?? []).map((e) => e.targetRef?.name ?? '')),
  );

const zoned = nodes(node('node-0', 'a'), node('node-1', 'b'), node('node-2', undefined));
const zonesArbitrary = fc.subarray(['a', 'b', 'c', '']);

describe('decideSlices and decideEndpoints with zones away', () => {
  it('a port that had a ready endpoint has one, and only pods of these zones leave', () => {
    fc.assert(
      fc.property(serviceArbitrary, podsArbitrary, zonesArbitrary, (of, pods, zones) => {
        const run = { service: of, pods, nodes: zoned, slices: [] };
        const before = decideSlices(input(run));
        const after = decideSlices(input({ ...run, zonesAway: new Set(zones) }));
        for (const port of readyIn(before)) expect(readyIn(after)).toContain(port);
        const left = podsIn(before).filter((name) => !podsIn(after).includes(name));
        const zoneOf = (name: string) => {
          const on = pods.find((p) => p.metadata.name === name)?.spec?.nodeName ?? '';
          return on === 'node-0' ? 'a' : on === 'node-1' ? 'b' : undefined;
        };
        for (const name of left) expect(zones).toContain(zoneOf(name));
        if (left.length > 0) for (const name of podsIn(after)) expect(zones).not.toContain(zoneOf(name));
      }),
      { numRuns: 500 },
    );
  });

  it('Endpoints have a ready address for each port that had one', () => {
    const readyPorts = (of: Service, pods: readonly Pod[], zones: readonly string[]): readonly string[] => {
      const { write } = decideEndpoints({
        namespace: 'ns',
        name: 'foo',
        service: of,
        pods,
        nodes: zoned,
        zonesAway: new Set(zones),
        current: undefined,
        triggerTimes: undefined,
      });
      const subsets = write && 'object' in write ? (write.object.subsets ?? []) : [];
      return subsets
        .filter(({ addresses }) => addresses?.length)
        .flatMap(({ ports }) => (ports ?? []).map((port) => port.name ?? ''));
    };
    // Endpoints, unlike slices, have pods whose node is not known.
    const known = podsArbitrary.map((pods) => pods.filter((p) => zoned.has(p.spec?.nodeName ?? '')));
    fc.assert(
      fc.property(serviceArbitrary, known, zonesArbitrary, (of, pods, zones) => {
        for (const port of readyPorts(of, pods, [])) expect(readyPorts(of, pods, zones)).toContain(port);
      }),
      { numRuns: 500 },
    );
  });

  it('the return of a zone gives the slices no trigger time of its pods', () => {
    const begun = input({ pods: [inA(1), inB(2)], nodes: inZones });
    const settled = carryOut(begun, decideSlices(begun));
    const leaving = { ...settled, zonesAway: new Set(['a']) };
    const away = carryOut(leaving, decideSlices(leaving));
    expect(away.slices.flatMap((s) => s.endpoints ?? []).map((e) => e.targetRef?.name)).toEqual(['pod0002']);
    const back = decideSlices({ ...away, zonesAway: undefined });
    const update = back.addressTypes.flatMap((t) => t.update);
    expect(update.flatMap((s) => s.endpoints ?? [])).toHaveLength(2);
    for (const slice of update) expect(slice.metadata.annotations?.[annotationTriggerTime]).toBeUndefined();
  });
});
