/** The Pod and the Service that tests are made of. A suite gives what it needs otherwise. */
import type { Pod, Service } from '#shared/kube/types.ts';

export interface PodOptions {
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly createdAt?: string;
  readonly labels?: { readonly [key: string]: string };
  readonly ips?: readonly string[];
  /** The first of `ips` by default. */
  readonly podIP?: string;
  /** Status of the Ready condition, or none. */
  readonly ready?: boolean | 'none';
  readonly readySince?: string;
  readonly phase?: string;
  /** True, or the time of its deletion. */
  readonly deleted?: boolean | string;
  readonly spec?: Partial<NonNullable<Pod['spec']>>;
}

/** A running, ready pod of namespace `ns` with the address 1.2.3.4 on node-1. */
export function pod(name: string, options: PodOptions = {}): Pod {
  const {
    namespace = 'ns',
    uid = `uid-${name}`,
    labels = { app: 'web' },
    ips = ['1.2.3.4'],
    ready = true,
    phase = 'Running',
  } = options;
  const { podIP = ips[0], resourceVersion, createdAt, readySince, deleted } = options;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      uid,
      labels,
      ...(resourceVersion && { resourceVersion }),
      ...(createdAt && { creationTimestamp: createdAt }),
      ...(deleted && { deletionTimestamp: deleted === true ? '2026-01-01T00:00:00Z' : deleted }),
    },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
      ...options.spec,
    },
    status: {
      phase,
      ...(podIP && { podIP }),
      podIPs: ips.map((ip) => ({ ip })),
      conditions:
        ready === 'none'
          ? []
          : [
              {
                type: 'Ready',
                status: ready ? 'True' : 'False',
                ...(readySince && { lastTransitionTime: readySince }),
              },
            ],
    },
  };
}

/** The service `ns/svc`, IPv4, selector app=web, port 80 → 8080. */
export const service = (
  spec: Service['spec'] = {},
  metadata: Partial<Service['metadata']> = {},
): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'svc', namespace: 'ns', uid: 'svc-uid', ...metadata },
  spec: {
    clusterIP: '10.0.0.1',
    ipFamilies: ['IPv4'],
    selector: { app: 'web' },
    ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }],
    ...spec,
  },
});
