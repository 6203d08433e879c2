/** A cluster with one Service of 5,000 pods, for the bench `explain`: prints the address of its API server. */
import { randomUUID } from 'node:crypto';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { startApiServer } from '#infra/local/apiserver/http.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';

const [pods, nodes, perSlice] = [5_000, 100, 100];
const store = new Store({ now: Date.now, uid: randomUUID, suffix: () => randomUUID().slice(0, 5) });
const put = (object: object): void => void store.apply(object as RawObject);
const times = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i);
const ipOf = (i: number): string => `10.1.${i >> 8}.${i & 255}`;
const isReady = (i: number): boolean => i % 50 !== 0;
const time = '2026-01-01T00:00:00Z';

put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
for (const i of times(nodes))
  put({
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${i}` } },
    status: { conditions: [{ type: 'Ready', status: 'True' }], images: [{ names: ['x'.repeat(4_000)] }] },
  });
put({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'shop' } },
  spec: {
    selector: { app: 'web' },
    ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
  },
});
for (const i of times(pods)) put(pod(i));
for (const s of times(pods / perSlice)) put(slice(times(perSlice).map((i) => s * perSlice + i)));
console.log((await startApiServer({ store })).url);

function pod(i: number): object {
  const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
    ...{ type, lastTransitionTime: time },
    status: isReady(i) || type !== 'Ready' ? 'True' : 'False',
  }));
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ name: `web-${i}`, namespace: 'shop', uid: `uid-${i}`, labels: { app: 'web' } },
      managedFields: [{ manager: 'kubelet', time, fieldsV1: { f: 'x'.repeat(3_000) } }],
    },
    spec: {
      nodeName: `node-${i % nodes}`,
      containers: [
        {
          ...{ name: 'web', image: 'web:1', env: [{ name: 'E', value: 'x'.repeat(2_000) }] },
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
        },
      ],
    },
    status: {
      ...{ phase: 'Running', podIP: ipOf(i), podIPs: [{ ip: ipOf(i) }], conditions },
      containerStatuses: [
        {
          ...{ name: 'web', image: 'web:1', imageID: '', ready: isReady(i), restartCount: 0 },
          state: isReady(i) ? { running: {} } : { waiting: { reason: 'CrashLoopBackOff' } },
        },
      ],
    },
  };
}

function slice(of: readonly number[]): object {
  return {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
    metadata: {
      ...{ name: `web-${of[0]}`, namespace: 'shop' },
      labels: { [labelServiceName]: 'web', [labelSliceManagedBy]: slicesManagedBy },
    },
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: of.map((i) => ({
      ...{ addresses: [ipOf(i)], conditions: { ready: isReady(i) }, nodeName: `node-${i % nodes}` },
      targetRef: { kind: 'Pod', namespace: 'shop', name: `web-${i}`, uid: `uid-${i}` },
    })),
  };
}
