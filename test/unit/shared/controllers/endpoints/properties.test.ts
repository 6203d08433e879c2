/** Properties of planned subsets with random pods. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import { annotationOverCapacity } from '#shared/kube/names.ts';
import type { Endpoints, Pod, Service } from '#shared/kube/types.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';

const create = (s: Service, pods: readonly Pod[]): Endpoints => {
  const plan = decideEndpoints({
    namespace: 'ns',
    name: 'svc',
    service: s,
    pods,
    current: undefined,
    triggerTimes: undefined,
  });
  if (plan.write?.verb !== 'create') throw new Error('not a create');
  return plan.write.object;
};

const podArbitrary = fc.record({
  ips: fc.subarray(['10.0.0.1', 'fd00::1'], { minLength: 0 }),
  ready: fc.boolean(),
  phase: fc.constantFrom('Running', 'Running', 'Succeeded'),
  deleted: fc.boolean(),
  ports: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b'),
      containerPort: fc.integer({ min: 1, max: 3 }),
      protocol: fc.constant('TCP'),
    }),
    {
      selector: (p) => p.name,
    },
  ),
});

/** Every pod with addresses of its own. */
const podsArbitrary = fc.array(podArbitrary, { maxLength: 20 }).map((all) =>
  all.map(({ ips, ports, ...options }, i) =>
    pod(`p${i}`, {
      ...options,
      ips: ips.map((ip) => ip.replace(/1$/, String(i + 1))),
      spec: { nodeName: 'node-1', containers: [{ name: 'c', ports }] },
    }),
  ),
);

describe('with any pods', () => {
  it('every eligible pod is listed exactly once under each port that it has, and no other', () => {
    fc.assert(
      fc.property(
        podsArbitrary,
        fc.subarray(['a', 'b', 7]),
        fc.constantFrom('IPv4', 'IPv6'),
        fc.boolean(),
        (pods, targets, family, publishNotReadyAddresses) => {
          const ports = targets.map((targetPort) => ({
            name: `to-${targetPort}`,
            port: 80,
            protocol: 'TCP',
            targetPort,
          }));
          const object = create(service({ ipFamilies: [family], publishNotReadyAddresses, ports }), pods);
          const listed = (object.subsets ?? []).flatMap((s) =>
            (s.ports ?? []).flatMap((p) => [
              ...(s.addresses ?? []).map((a) => `${p.name} ${p.port} ${a.targetRef?.name} ready`),
              ...(s.notReadyAddresses ?? []).map((a) => `${p.name} ${p.port} ${a.targetRef?.name} not ready`),
            ]),
          );
          const expected = pods.flatMap((p) => {
            const hasIP = (p.status?.podIPs ?? []).some(({ ip }) => ip.includes(':') === (family === 'IPv6'));
            const leaving = Boolean(p.metadata.deletionTimestamp) && !publishNotReadyAddresses;
            if (!hasIP || leaving || p.status?.phase === 'Succeeded') return [];
            const ready = publishNotReadyAddresses || p.status?.conditions?.[0]?.status === 'True';
            return targets.flatMap((target) => {
              const number =
                typeof target === 'number'
                  ? target
                  : p.spec?.containers?.[0]?.ports?.find((c) => c.name === target)?.containerPort;
              return number === undefined
                ? []
                : [`to-${target} ${number} ${p.metadata.name} ${ready ? 'ready' : 'not ready'}`];
            });
          });
          expect(listed.sort()).toEqual(expected.sort());
        },
      ),
    );
  });

  it('at most 1,000 addresses are listed, without empty subsets, and a larger number is marked', () => {
    const group = fc.record({
      ready: fc.nat(700),
      notReady: fc.nat(700),
      port: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(group, { selector: (g) => g.port, minLength: 1, maxLength: 3 }),
        (groups) => {
          let n = 0;
          const some = (count: number, ready: boolean, containerPort: number): readonly Pod[] =>
            Array.from({ length: count }, () => {
              n++;
              return pod(`p${n}`, {
                ready,
                ips: [`10.1.${n >> 8}.${n & 255}`],
                spec: {
                  nodeName: 'node-1',
                  containers: [{ name: 'c', ports: [{ name: 'a', containerPort, protocol: 'TCP' }] }],
                },
              });
            });
          const pods = groups.flatMap(({ ready, notReady, port }) => [
            ...some(ready, true, port),
            ...some(notReady, false, port),
          ]);
          const object = create(
            service({
              ipFamilies: ['IPv4'],
              ports: [{ name: 'a', port: 80, protocol: 'TCP', targetPort: 'a' }],
            }),
            pods,
          );
          const counts = (object.subsets ?? []).map(
            (s) => (s.addresses ?? []).length + (s.notReadyAddresses ?? []).length,
          );
          expect(counts.reduce((a, b) => a + b, 0)).toBe(Math.min(1000, n));
          expect(counts).not.toContain(0);
          expect(object.metadata.annotations?.[annotationOverCapacity]).toBe(
            n > 1000 ? 'truncated' : undefined,
          );
        },
      ),
      { numRuns: 25 },
    );
  });
});
