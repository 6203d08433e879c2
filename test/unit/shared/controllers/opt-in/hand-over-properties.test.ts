/**
 * A hand-over takes no endpoint from a proxy, whatever the ports and families of a Service and the state of
 * its next writer.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { handOver, servedBy } from '#shared/controllers/opt-in/hand-over.ts';
import { decideSlices } from '#shared/controllers/slices/decide.ts';
import type { SlicesPlan } from '#shared/controllers/slices/plan.ts';
import { labelSliceManagedBy, optInManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Pod, Service } from '#shared/kube/types.ts';
import { pod, service } from '#test/support/objects.ts';

const nodes = new Map([['node-1', { metadata: { name: 'node-1' } }]]);

/** By number, name, or a name that only some pods have. */
const port = fc.record({
  name: fc.constantFrom('http', 'metrics', 'dns'),
  protocol: fc.constantFrom('TCP', 'UDP'),
  targetPort: fc.constantFrom<number | string>(8080, 9090, 'web'),
});

const someService = fc
  .record({
    ports: fc.uniqueArray(port, { minLength: 0, maxLength: 3, selector: ({ name }) => name }),
    ipFamilies: fc.constantFrom(['IPv4'], ['IPv6'], ['IPv4', 'IPv6']),
    publishNotReadyAddresses: fc.boolean(),
  })
  .map(({ ports, ...spec }) =>
    service({
      ...spec,
      clusterIP: ports.length === 0 ? 'None' : '10.0.0.1',
      ports: ports.map((p, i) => ({ ...p, port: i + 1 })),
    }),
  );

const somePods = fc.uniqueArray(
  fc.record({
    id: fc.nat(5),
    ready: fc.boolean(),
    families: fc.constantFrom(['4'], ['6'], ['4', '6']),
    web: fc.constantFrom(8080, 7070, undefined),
  }),
  { maxLength: 5, selector: ({ id }) => id },
);

type SomePod = typeof somePods extends fc.Arbitrary<(infer P)[]> ? P : never;

const podOf = ({ id, ready, families, web }: SomePod): Pod =>
  pod(`pod-${id}`, {
    ready,
    ips: families.map((f) => (f === '4' ? `10.0.0.${id + 1}` : `fd00::${id + 1}`)),
    spec: {
      containers: [
        { name: 'c', ports: web === undefined ? [] : [{ name: 'web', containerPort: web, protocol: 'TCP' }] },
      ],
    },
  });

const decide = (of: Service, pods: readonly Pod[]): SlicesPlan =>
  decideSlices({
    service: of,
    pods,
    nodes,
    slices: [],
    triggerTimes: undefined,
    hints: undefined,
    maxEndpointsPerSlice: 2,
    managedBy: slicesManagedBy,
  });

const slicesBy = (manager: string, of: Service, pods: readonly Pod[]): readonly EndpointSlice[] =>
  decide(of, pods)
    .addressTypes.flatMap((t) => t.create)
    .map((slice, i) => ({
      ...slice,
      metadata: { ...slice.metadata, name: `${manager}-${i}`, labels: { [labelSliceManagedBy]: manager } },
    }));

/**
 * What a proxy sends the traffic of each port of the Service to; of a headless Service without ports its
 * addresses by DNS.
 */
function destinations(slices: readonly EndpointSlice[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { addressType, endpoints, ports } of slices) {
    for (const { addresses, conditions } of endpoints ?? []) {
      if (conditions?.ready === false) continue;
      if (!ports || ports.length === 0) found.add(`${addressType} ${addresses[0]}`);
      for (const { name, port: number, protocol } of ports ?? [])
        found.add(`${addressType} ${name} ${protocol} ${addresses[0]}:${number}`);
    }
  }
  return found;
}

interface Case {
  readonly now: Service;
  /** As the next writer knows the Service and its pods, unless it is up to date. */
  readonly theirs: Service;
  readonly pods: readonly SomePod[];
  readonly known: readonly SomePod[];
  readonly isUpToDate: boolean;
}

it('our slices are deleted if and only if those of the next writer serve each ready address on each port', () => {
  let deleted = 0;
  const check = ({ now, theirs, pods, known, isUpToDate }: Case): void => {
    const all = pods.map(podOf);
    const ours = slicesBy(optInManagedBy, now, all);
    const others = isUpToDate
      ? slicesBy(slicesManagedBy, now, all)
      : slicesBy(slicesManagedBy, theirs, known.map(podOf));
    const plan = handOver({
      writer: 'built-in',
      slices: [...ours, ...others],
      endpoints: undefined,
      ready: servedBy(ours),
    });
    const [before, left] = [destinations(ours), destinations(others)];
    const isServed = others.length > 0 && [...before].every((d) => left.has(d));
    expect(plan.withdrawn).toEqual(isServed ? ours : []);
    expect(plan.isWaiting).toBe(ours.length > 0 && !isServed);
    if (plan.withdrawn.length > 0 && before.size > 0) deleted++;
  };
  const someCase = fc.record<Case>({
    ...{ now: someService, theirs: someService },
    ...{ pods: somePods, known: somePods, isUpToDate: fc.boolean() },
  });
  fc.assert(fc.property(someCase, check), { numRuns: 1_000 });
  expect(deleted).toBeGreaterThan(50);
});
