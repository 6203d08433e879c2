import type { Labels } from '#shared/kube/labels.ts';
import type { Endpoints, Pod, Service } from '#shared/kube/types.ts';

export interface PodOptions {
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Labels;
  readonly ips?: readonly string[];
  readonly podIP?: string;
  /** Status of the Ready condition, or none. */
  readonly ready?: boolean | 'none';
  readonly readySince?: string;
  readonly phase?: string;
  readonly deleted?: boolean;
  readonly spec?: Pod['spec'];
}

/** A running, ready pod of namespace `ns` with the address 1.2.3.4 on node-1. */
export function pod(name: string, options: PodOptions = {}): Pod {
  const { namespace = 'ns', uid = `uid-${name}`, labels = { app: 'web' }, ips = ['1.2.3.4'], ready = true, phase = 'Running' } = options;
  const podIP = options.podIP ?? ips[0];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      uid,
      labels,
      ...(options.resourceVersion && { resourceVersion: options.resourceVersion }),
      ...(options.deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }], ...options.spec },
    status: {
      phase,
      ...(podIP && { podIP }),
      podIPs: ips.map((ip) => ({ ip })),
      conditions:
        ready === 'none'
          ? []
          : [{ type: 'Ready', status: ready ? 'True' : 'False', ...(options.readySince && { lastTransitionTime: options.readySince }) }],
    },
  };
}

/** The service `ns/svc`, IPv4, port 80 → 8080, made at the start of 2018. */
export function service(spec: Partial<NonNullable<Service['spec']>> = {}, labels?: Labels): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'svc', namespace: 'ns', uid: 'svc-uid', creationTimestamp: '2018-01-01T00:00:00Z', ...(labels && { labels }) },
    spec: {
      clusterIP: '10.0.0.1',
      ipFamilies: ['IPv4'],
      selector: { app: 'web' },
      ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }],
      ...spec,
    },
  };
}

/** Returns the Endpoints `ns/svc` of the API server, with our labels by default. */
export function endpoints(subsets: Endpoints['subsets'], metadata: Partial<Endpoints['metadata']> = {}): Endpoints {
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
