/** Random services and pods. */
import fc from 'fast-check';
import { annotationTopologyMode } from '#shared/kube/names.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { service } from './fixtures.ts';

const podArbitrary = fc
  .record({
    id: fc.nat(40),
    ready: fc.boolean(),
    deleted: fc.boolean(),
    phase: fc.constantFrom('Running', 'Running', 'Running', 'Succeeded'),
    node: fc.constantFrom('node-0', 'node-1', 'node-2', 'node-missing'),
    families: fc.constantFrom('4', '46', '6', ''),
    port: fc.constantFrom(8080, 9090, undefined),
  })
  .map(({ id, ready, deleted, phase, node, families, port }): Pod => {
    const podIPs = [...families].map((f) => ({ ip: f === '4' ? `10.0.0.${id + 1}` : `fd00::${id + 1}` }));
    return {
      metadata: {
        name: `pod-${id}`,
        namespace: 'ns',
        uid: `u${id}`,
        ...(deleted && { deletionTimestamp: '2024-01-01T00:00:00Z' }),
      },
      spec: {
        nodeName: node,
        containers: [
          { name: 'c', ports: port ? [{ name: 'http', containerPort: port, protocol: 'TCP' }] : [] },
        ],
      },
      status: {
        phase,
        podIP: podIPs[0]?.ip,
        podIPs,
        conditions: [
          { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2024-01-01T00:00:00Z' },
        ],
      },
    };
  });

export const podsArbitrary = fc.uniqueArray(podArbitrary, {
  maxLength: 30,
  selector: (p) => p.metadata.name,
});

export const serviceArbitrary = fc
  .record({
    ipFamilies: fc.constantFrom(['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], undefined),
    clusterIP: fc.constantFrom('10.0.0.1', 'None', undefined),
    publishNotReadyAddresses: fc.boolean(),
    targetPort: fc.constantFrom<readonly (string | number)[]>(['http'], [80], [80, 'http'], []),
    trafficDistribution: fc.constantFrom(undefined, 'PreferClose', 'PreferSameNode', 'Other'),
    mode: fc.constantFrom('Auto', 'Disabled'),
    labels: fc.constantFrom<{ readonly [key: string]: string }>({}, { x: 'y' }),
  })
  .map(({ mode, labels, targetPort, ...spec }): Service => {
    const ports = targetPort.map((target, i) => ({
      name: `p${i}`,
      port: i + 1,
      targetPort: target,
      protocol: 'TCP',
    }));
    return service({ ...spec, ports }, { labels, annotations: { [annotationTopologyMode]: mode } });
  });
