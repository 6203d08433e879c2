/** Properties of decideSlices with random inputs. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideSlices } from '#shared/controllers/slices/decide.ts';
import type { SlicesInput } from '#shared/controllers/slices/plan.ts';
import { portMapKey, portsByPod } from '#shared/controllers/slices/ports.ts';
import { annotationTriggerTime } from '#shared/kube/names.ts';
import { shouldPodBeInEndpoints } from '#shared/kube/pods.ts';
import type { Endpoint, EndpointSlice, Pod, Service } from '#shared/kube/types.ts';
import { podsArbitrary, serviceArbitrary } from './arbitraries.ts';
import { carryOut, deepFreeze, input, managed, node, nodes, owner, slice } from './fixtures.ts';

const settings = { numRuns: 300 };

/** Existing slices in any state: half right, foreign, duplicate, of other types. */
const leftoverArbitrary = (pods: readonly Pod[]): fc.Arbitrary<readonly EndpointSlice[]> => {
  const endpoint = fc.nat(45).chain((id): fc.Arbitrary<Endpoint> => {
    const pod = pods.find((p) => p.metadata.name === `pod-${id}`);
    return fc.record({
      addresses: fc.constantFrom([`10.0.0.${id + 1}`], [`fd00::${id + 1}`]),
      conditions: fc.record({ ready: fc.boolean(), serving: fc.boolean(), terminating: fc.boolean() }),
      targetRef: fc.constant({
        kind: 'Pod',
        namespace: 'ns',
        name: `pod-${id}`,
        uid: pod?.metadata.uid ?? 'gone',
      }),
      nodeName: fc.constantFrom('node-0', 'node-1'),
    });
  });
  const one = fc.record({
    name: fc.nat(20).map((n) => `foo-${n}`),
    addressType: fc.constantFrom('IPv4', 'IPv6', 'FQDN'),
    endpoints: fc.array(endpoint, { maxLength: 6 }),
    port: fc.constantFrom(8080, 9090, undefined),
    own: fc.constantFrom(true, true, false),
    labels: fc.constantFrom(managed, { ...managed, z: '1' }),
    deletionTimestamp: fc.constantFrom(undefined, undefined, undefined, '2024-01-01T00:00:00Z'),
  });
  return fc.uniqueArray(one, { maxLength: 6, selector: (s) => s.name }).map((all) =>
    all.map(({ name, addressType, endpoints, port, own, labels, deletionTimestamp }) =>
      slice(name, endpoints, {
        addressType,
        ports: port ? [{ name: 'p0', port, protocol: 'TCP' }] : [],
        metadata: {
          labels,
          ownerReferences: own ? [owner] : [],
          ...(deletionTimestamp && { deletionTimestamp }),
        },
      }),
    ),
  );
};

const cluster = nodes(node('node-0', 'a'), node('node-1', 'b'), node('node-2', undefined, { ready: false }));

const inputArbitrary: fc.Arbitrary<SlicesInput> = fc
  .record({
    service: serviceArbitrary,
    pods: podsArbitrary,
    maxEndpointsPerSlice: fc.integer({ min: 1, max: 12 }),
  })
  .chain((fields) =>
    leftoverArbitrary(fields.pods).map((slices) => deepFreeze(input({ ...fields, nodes: cluster, slices }))),
  );

const live = (slices: readonly EndpointSlice[]) => slices.filter((s) => !s.metadata.deletionTimestamp);

describe('with any input', () => {
  it('the plan does not depend on the order of pods, slices or nodes', () => {
    const shuffled = inputArbitrary.chain((before) =>
      fc
        .record({
          pods: fc.shuffledSubarray([...before.pods], { minLength: before.pods.length }),
          slices: fc.shuffledSubarray([...before.slices], { minLength: before.slices.length }),
          nodes: fc
            .shuffledSubarray([...before.nodes], { minLength: before.nodes.size })
            .map((entries) => new Map(entries)),
        })
        .map((other) => [before, { ...before, ...other }] as const),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        expect(decideSlices(other)).toEqual(decideSlices(one));
      }),
      settings,
    );
  });

  it('the input stays unchanged', () => {
    fc.assert(
      fc.property(inputArbitrary, (before) => {
        const copy = structuredClone(before);
        decideSlices(before);
        expect(before).toEqual(copy);
      }),
      settings,
    );
  });

  it('a plan that was carried out leaves nothing to write but a trigger time to be taken away, once [TA-10]', () => {
    fc.assert(
      fc.property(inputArbitrary, (before) => {
        const after = carryOut(before, decideSlices(before));
        const again = decideSlices(after);
        const endpointsOf = (name: string) => after.slices.find((s) => s.metadata.name === name)?.endpoints;
        for (const type of again.addressTypes) {
          expect(type).toMatchObject({ create: [], delete: [], endpointsAdded: 0, endpointsRemoved: 0 });
          for (const slice of type.update) {
            expect(slice.metadata.annotations?.[annotationTriggerTime]).toBeUndefined();
            expect(slice.endpoints).toEqual(endpointsOf(slice.metadata.name));
          }
        }
        for (const type of decideSlices(carryOut(after, again)).addressTypes) expect(type.update).toEqual([]);
        expect(again.unsupported).toEqual([]);
      }),
      settings,
    );
  });

  it('every eligible pod is in exactly one slice of each address type, with its ports, and no slice is over the maximum', () => {
    fc.assert(
      fc.property(inputArbitrary, (before) => {
        const after = carryOut(before, decideSlices(before));
        const svc = before.service as Service;
        const portsOf = portsByPod(svc);
        const publish = svc.spec?.publishNotReadyAddresses;
        const listed = live(after.slices).flatMap((s) =>
          (s.endpoints ?? []).map((e) => [s.addressType, e.targetRef?.name, portMapKey(s.ports)].join(' ')),
        );
        const eligible = before.pods
          .filter((p) => shouldPodBeInEndpoints(p, true) && (publish || cluster.has(p.spec?.nodeName ?? '')))
          .flatMap((p) =>
            (p.status?.podIPs ?? []).map(({ ip }) =>
              [ip.includes(':') ? 'IPv6' : 'IPv4', p.metadata.name, portsOf(p).key].join(' '),
            ),
          );
        const types = decideSlices(before).addressTypes.map((type) => type.addressType);
        expect(listed.sort()).toEqual(eligible.filter((key) => types.includes(key.slice(0, 4))).sort());
        const untouched = new Set(before.slices);
        for (const s of live(after.slices))
          if (!untouched.has(s))
            expect(s.endpoints?.length ?? 0).toBeLessThanOrEqual(Math.max(before.maxEndpointsPerSlice, 6));
        for (const type of types) expect(live(after.slices).some((s) => s.addressType === type)).toBe(true);
      }),
      settings,
    );
  });

  it('slices made from nothing hold at most the maximum, and are counted as they are', () => {
    fc.assert(
      fc.property(inputArbitrary, (before) => {
        const fresh = { ...before, slices: [] };
        const plan = decideSlices(fresh);
        for (const type of plan.addressTypes) {
          for (const draft of type.create)
            expect(draft.endpoints?.length).toBeLessThanOrEqual(before.maxEndpointsPerSlice);
          expect(type).toMatchObject({
            slicesActual: type.create.length,
            slicesDesired: type.create.length,
            endpointsDesired: type.endpointsAdded,
          });
        }
      }),
      settings,
    );
  });
});
