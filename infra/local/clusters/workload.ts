/**
 * A demonstration workload for a cluster without kubelets: a small shop with several kinds of Services, and
 * pods that start, become ready, are replaced by rolling updates and stop. One pod flaps.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterApiError, isAlreadyExists, isNotFound } from '#shared/clusters/api/errors.ts';
import { statusError } from '#shared/clusters/api/status.ts';
import type { HttpTransport } from '#shared/clusters/api/transport.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { mcsApiVersion } from '#shared/kube/projection/mcs-projection.ts';
import { embeddedRange } from './pod-ranges.ts';

export interface WorkloadOptions {
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  /** Factor of the pace, 1 by default. A person can follow the default. */
  readonly speed?: number;
  /** Range of the pods' addresses: by default the first embedded cluster's. */
  readonly range?: { readonly v4: string; readonly v6: string };
  /** Exports one of the Services (docs/clusterset.md). */
  readonly exports?: boolean;
}

/**
 * Resolves when all objects exist and the pods are ready. The workload keeps changing until the signal
 * aborts.
 */
export async function startWorkload(
  transport: HttpTransport,
  { signal, log, speed = 1, range = embeddedRange(0), exports }: WorkloadOptions,
): Promise<void> {
  const pause = (seconds: number) => sleep((seconds * 1000) / speed, undefined, { signal });
  const cluster = clusterOf(transport, signal);
  const kubelet = kubeletOf(cluster, pause, range);

  await Promise.all(zones.map((zone, i) => cluster.make('/api/v1/nodes', node(nodeName(i), zone))));
  await Promise.all(
    [...new Set(apps.map((a) => a.namespace))].map((name) =>
      cluster.make('/api/v1/namespaces', { metadata: { name } }),
    ),
  );
  // Pods of an earlier run are deleted, because their addresses would be assigned twice.
  await Promise.all(
    apps.map((a) =>
      cluster.call('DELETE', `${podsOf(a)}?labelSelector=app%3D${a.name}`, { gracePeriodSeconds: 0 }),
    ),
  );
  await Promise.all(apps.map((a) => cluster.make(`/api/v1/namespaces/${a.namespace}/services`, service(a))));
  if (exports)
    await cluster.make(`/apis/${mcsApiVersion}/namespaces/${exported.namespace}/serviceexports`, {
      metadata: { name: exported.name },
    });
  const running = new Map(
    await Promise.all(
      apps.map(async (a) => [a, await Promise.all(ordinals(a).map((i) => kubelet.start(a, i, 1)))] as const),
    ),
  );
  log(
    `workload: ${apps.length} services and ${[...running.values()].flat().length} pods on ${zones.length} nodes`,
  );

  void forever('rolling updates', async (round) => {
    await pause(15);
    const app = apps[round % apps.length] as App;
    log(`workload: rolling update of ${app.namespace}/${app.name}`);
    const pods = running.get(app) as string[];
    for (const i of ordinals(app)) {
      // A pod with a stable name stops before its replacement starts. Other pods stop after it.
      if (app.headless) await kubelet.stop(app, pods[i] as string);
      const next = await kubelet.start(app, i, round + 2);
      if (!app.headless) void kubelet.stop(app, pods[i] as string).catch(() => {});
      pods[i] = next;
    }
  });
  void forever('the flapping pod', async (round) => {
    await pause(4);
    const pod = running.get(flapping)?.[0] as string;
    await kubelet.setReady(flapping, pod, round % 2 === 1).catch(ignoreMissing);
  });

  async function forever(what: string, step: (round: number) => Promise<void>): Promise<void> {
    for (let round = 0; !signal.aborted; round++) {
      try {
        await step(round);
      } catch (e) {
        if (signal.aborted) return;
        log(`workload: ${what}: ${(e as Error).message}`);
        await pause(5).catch(() => {});
      }
    }
  }
}

interface App {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  /**
   * Container ports by name. The Service has ports of the same names from 80 on, with these names as targets.
   */
  readonly ports: { readonly [name: string]: number };
  readonly numericTarget?: boolean;
  readonly headless?: boolean;
  readonly dualStack?: boolean;
  /** The Service has its selector in an annotation (docs/opt-in.md). */
  readonly optsIn?: boolean;
}

/** Every cluster exports this Service, so each cluster has the endpoints of all clusters. */
const exported: App = {
  namespace: 'shop',
  name: 'catalog',
  replicas: 3,
  ports: { grpc: 50051 },
  dualStack: true,
};
const flapping: App = { namespace: 'shop', name: 'ads', replicas: 2, ports: { http: 8080 } };
const apps: readonly App[] = [
  { namespace: 'shop', name: 'web', replicas: 4, ports: { http: 8080 }, numericTarget: true },
  { namespace: 'shop', name: 'search', replicas: 3, ports: { http: 9200, metrics: 9114 } },
  exported,
  flapping,
  { namespace: 'payments', name: 'ledger', replicas: 3, ports: { sql: 5432 }, headless: true },
  { namespace: 'shop', name: 'cart', replicas: 2, ports: { http: 8080 }, optsIn: true },
  { namespace: 'payments', name: 'fraud', replicas: 2, ports: { grpc: 9090 }, dualStack: true, optsIn: true },
];
const zones = ['zone-a', 'zone-b', 'zone-c'];

const nodeName = (i: number): string => `node-${i % zones.length}`;
const ordinals = (app: App): number[] => Array.from({ length: app.replicas }, (_, i) => i);
const podsOf = (app: App): string => `/api/v1/namespaces/${app.namespace}/pods`;

const node = (name: string, zone: string): object => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone } },
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
    allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
  },
});

const service = (app: App): object => ({
  metadata: {
    name: app.name,
    labels: { app: app.name },
    ...(app.optsIn && { annotations: { [annotationSelector]: `app=${app.name}` } }),
  },
  spec: {
    ...(!app.optsIn && { selector: { app: app.name } }),
    ports: Object.entries(app.ports).map(([name, port], i) => ({
      name,
      port: 80 + i,
      targetPort: app.numericTarget ? port : name,
    })),
    ...(app.headless && { clusterIP: 'None' }),
    ...(app.dualStack && { ipFamilyPolicy: 'PreferDualStack' }),
  },
});

const pod = (app: App, ordinal: number, version: number): object => ({
  metadata: {
    labels: { app: app.name, version: `v${version}` },
    ...(app.headless ? { name: `${app.name}-${ordinal}` } : { generateName: `${app.name}-` }),
  },
  spec: {
    nodeName: nodeName(ordinal),
    ...(app.headless && { hostname: `${app.name}-${ordinal}`, subdomain: app.name }),
    containers: [
      {
        name: app.name,
        image: `example.com/${app.namespace}/${app.name}:v${version}`,
        ports: Object.entries(app.ports).map(([name, containerPort]) => ({ name, containerPort })),
      },
    ],
  },
});

interface Cluster {
  call<T = { metadata: { name: string } }>(method: string, path: string, body: object): Promise<T>;
  /** Creates the object unless it exists. */
  make(path: string, object: object): Promise<void>;
}

function clusterOf(transport: HttpTransport, signal: AbortSignal): Cluster {
  async function call<T>(method: string, path: string, body: object): Promise<T> {
    const contentType = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const answer = await transport.request(method, path, { body: JSON.stringify(body), contentType, signal });
    if (answer.status >= 300) throw statusError(answer);
    return JSON.parse(answer.body.toString()) as T;
  }
  const make = (path: string, object: object) =>
    call('POST', path, object).then(
      () => {},
      (e: unknown) => {
        if (!isAlreadyExists(e)) throw e;
      },
    );
  return { call, make };
}

/** Reports what kubelets would report: addresses, readiness, and the end of a pod. */
function kubeletOf(
  cluster: Cluster,
  pause: (seconds: number) => Promise<void>,
  { v4, v6 }: NonNullable<WorkloadOptions['range']>,
) {
  let addresses = 10;
  const path = (app: App, name: string) => `${podsOf(app)}/${name}`;
  const report = (app: App, name: string, status: object) =>
    cluster.call('PATCH', `${path(app, name)}/status`, { status });
  const condition = (ready: boolean) => [
    { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: now() },
  ];

  return {
    /** Resolves with the pod's name when it is ready. */
    async start(app: App, ordinal: number, version: number): Promise<string> {
      const { metadata } = await cluster.call('POST', podsOf(app), pod(app, ordinal, version));
      const n = addresses++ % 60_000;
      const podIPs = [
        `${v4}.${n >> 8}.${n & 255}`,
        ...(app.dualStack ? [`${v6}::${n.toString(16)}`] : []),
      ].map((ip) => ({ ip }));
      await report(app, metadata.name, {
        phase: 'Running',
        podIP: podIPs[0]?.ip,
        podIPs,
        startTime: now(),
        conditions: condition(false),
      });
      await pause(0.5 + ordinal * 0.2);
      await report(app, metadata.name, { conditions: condition(true) });
      return metadata.name;
    },
    async stop(app: App, name: string): Promise<void> {
      try {
        await cluster.call('DELETE', path(app, name), {});
        await pause(1);
        await report(app, name, { conditions: condition(false) });
        await pause(1);
        await cluster.call('DELETE', path(app, name), { gracePeriodSeconds: 0 });
      } catch (e) {
        ignoreMissing(e);
      }
    },
    setReady: (app: App, name: string, ready: boolean) => report(app, name, { conditions: condition(ready) }),
  };
}

const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');

function ignoreMissing(e: unknown): void {
  if (!(e instanceof ClusterApiError) || !isNotFound(e)) throw e;
}
