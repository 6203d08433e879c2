import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';

export interface ClusterSize {
  readonly namespaces: number;
  /** Number of services in each namespace. */
  readonly services: number;
  readonly podsPerService: number;
}

const nodes = 20;

/**
 * A cluster whose objects are as large, and compress as badly, as real ones: uids, names and addresses are
 * random. The same for every call.
 */
export function clusterObjects(size: ClusterSize): RawObject[] {
  const list: object[] = [];
  const random = generator(11);
  let resourceVersion = 100;
  const meta = (namespace: string | undefined, name: string, more: object = {}) => ({
    name,
    namespace,
    uid: uuid(random),
    resourceVersion: String(++resourceVersion),
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...more,
  });
  for (let n = 0; n < nodes; n++) {
    list.push({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: meta(undefined, nodeName(n), {
        labels: { 'topology.kubernetes.io/zone': `us-east-1${'abc'[n % 3]}` },
      }),
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }
  for (let ns = 0; ns < size.namespaces; ns++) {
    for (let s = 0; s < size.services; s++) {
      const namespace = `shop-${ns}`;
      const labels = { 'app.kubernetes.io/name': `service-${s}`, 'app.kubernetes.io/part-of': namespace };
      list.push({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: meta(namespace, `service-${s}`, { labels }),
        spec: {
          type: 'ClusterIP',
          clusterIP: `10.${ns}.${s >> 8}.${s & 255}`,
          ipFamilies: ['IPv4'],
          selector: { 'app.kubernetes.io/name': `service-${s}` },
          ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http' }],
        },
      });
      const replicas = text(random, 10);
      for (let p = 0; p < size.podsPerService; p++) {
        const name = `service-${s}-${replicas}-${text(random, 5)}`;
        list.push(
          pod(
            meta(namespace, name, { labels: { ...labels, 'pod-template-hash': replicas } }),
            list.length,
            random,
          ),
        );
      }
    }
  }
  return list as RawObject[];
}

export const exportOf = (namespace: string, name: string): RawObject => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: {
    namespace,
    name,
    uid: 'export',
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation: 1,
    resourceVersion: '99',
  },
  spec: {},
});

export function withReadiness(pod: RawObject, ready: boolean, nowMs: number): RawObject {
  const lastTransitionTime = new Date(nowMs).toISOString().replace('.000Z', 'Z');
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }];
  return { ...pod, status: { ...(pod as { readonly status?: object }).status, conditions } } as RawObject;
}

function pod(metadata: object, i: number, random: () => number): RawObject {
  const ip = `10.${100 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`;
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      nodeName: nodeName(Math.floor(random() * nodes)),
      containers: [{ name: 'app', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
    },
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }] },
  };
  return withReadiness(object as unknown as RawObject, true, Date.parse('2026-01-01T00:00:00Z'));
}

const nodeName = (n: number): string => `ip-10-1-${n}-7.ec2.internal`;

/** In [0, 1), the same for the same seed. */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function text(random: () => number, length: number): string {
  const letters = 'bcdfghjklmnpqrstvwxz2456789';
  return Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('');
}

function uuid(random: () => number): string {
  const hex = (length: number): string =>
    Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
}
