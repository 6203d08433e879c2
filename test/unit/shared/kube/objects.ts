import type { Labels } from '#shared/kube/labels.ts';
import type { Endpoints, Service } from '#shared/kube/types.ts';
import { service as anyService } from '#test/support/objects.ts';

export { type PodOptions, pod } from '#test/support/objects.ts';

/** The service `ns/svc` without a name of its port, made at the start of 2018. */
export const service = (spec: Service['spec'] = {}, labels?: Labels): Service =>
  anyService(
    { ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }], ...spec },
    { creationTimestamp: '2018-01-01T00:00:00Z', ...(labels && { labels }) },
  );

/** Returns the Endpoints `ns/svc` of the API server, with our labels by default. */
export function endpoints(
  subsets: Endpoints['subsets'],
  metadata: Partial<Endpoints['metadata']> = {},
): Endpoints {
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: 'svc',
      namespace: 'ns',
      uid: 'ep-uid',
      resourceVersion: '1',
      labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
      ...metadata,
    },
    ...(subsets && { subsets }),
  };
}
