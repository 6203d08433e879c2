/** The demonstration's small shop: several kinds of Services, of which three cannot be reached. */

import { annotationSelector } from '#shared/kube/names.ts';
import type { RawObject, WorkloadKind } from '../apiserver/api-kinds.ts';

export interface App {
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
  /** The Service has its selector in an annotation (docs/use/opt-in.md). */
  readonly optsIn?: boolean;
  /** A mistake in the Service, for `explain` to find. */
  readonly mistake?: { readonly targetPort?: string; readonly selectedApp?: string };
  /** A condition that the pods wait for and that nobody sets. */
  readonly readinessGate?: string;
}

/** Every cluster exports this Service, so each cluster has the endpoints of all clusters. */
export const exported: App = {
  namespace: 'shop',
  name: 'catalog',
  replicas: 3,
  ports: { grpc: 50051 },
  dualStack: true,
};
export const flapping: App = { namespace: 'shop', name: 'ads', replicas: 2, ports: { http: 8080 } };
export const apps: readonly App[] = [
  { namespace: 'shop', name: 'web', replicas: 4, ports: { http: 8080 }, numericTarget: true },
  { namespace: 'shop', name: 'search', replicas: 3, ports: { http: 9200, metrics: 9114 } },
  exported,
  flapping,
  { namespace: 'payments', name: 'ledger', replicas: 3, ports: { sql: 5432 }, headless: true },
  { namespace: 'shop', name: 'cart', replicas: 2, ports: { http: 8080 }, optsIn: true },
  { namespace: 'payments', name: 'fraud', replicas: 2, ports: { grpc: 9090 }, dualStack: true, optsIn: true },
];
/** No rolling update replaces their pods. */
export const brokenApps: readonly App[] = [
  {
    namespace: 'shop',
    name: 'checkout',
    replicas: 2,
    ports: { http: 8080 },
    mistake: { targetPort: 'htpp' },
  },
  {
    namespace: 'shop',
    name: 'reviews',
    replicas: 2,
    ports: { http: 8080 },
    mistake: { selectedApp: 'review' },
  },
  {
    namespace: 'payments',
    name: 'gateway',
    replicas: 2,
    ports: { http: 8080 },
    readinessGate: 'example.com/registered-with-load-balancer',
  },
];

export const zones = ['zone-a', 'zone-b', 'zone-c'];
export const nodeName = (i: number): string => `node-${i % zones.length}`;

export const node = (name: string, zone: string): object => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone } },
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
    allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
  },
});

export function service(app: App): object {
  const selected = app.mistake?.selectedApp ?? app.name;
  return {
    metadata: {
      name: app.name,
      labels: { app: app.name },
      ...(app.optsIn && { annotations: { [annotationSelector]: `app=${selected}` } }),
    },
    spec: {
      ...(!app.optsIn && { selector: { app: selected } }),
      ports: Object.entries(app.ports).map(([name, port], i) => ({
        name,
        port: 80 + i,
        targetPort: app.numericTarget ? port : (app.mistake?.targetPort ?? name),
      })),
      ...(app.headless && { clusterIP: 'None' }),
      ...(app.dualStack && { ipFamilyPolicy: 'PreferDualStack' }),
    },
  };
}

/** The pods of a headless Service have stable names. */
export const workloadKindOf = (app: App): WorkloadKind => (app.headless ? 'StatefulSet' : 'Deployment');

export const workload = (app: App): object => ({
  metadata: { name: app.name, labels: { app: app.name } },
  spec: {
    replicas: app.replicas,
    selector: { matchLabels: { app: app.name } },
    ...(app.headless && { serviceName: app.name }),
    template: {
      metadata: { labels: { app: app.name, version: 'v1' } },
      spec: {
        ...(app.headless && { subdomain: app.name }),
        ...(app.readinessGate && { readinessGates: [{ conditionType: app.readinessGate }] }),
        containers: [
          {
            name: app.name,
            image: imageOf(app, 'v1'),
            ports: Object.entries(app.ports).map(([name, containerPort]) => ({ name, containerPort })),
          },
        ],
      },
    },
  },
});

const registry = 'example.com/';
const imageOf = (app: Pick<App, 'namespace' | 'name'>, version: string): string =>
  `${registry}${app.namespace}/${app.name}:${version}`;

/** The patch of a rolling update. */
export const release = (app: App, version: string): object => ({
  spec: {
    template: {
      metadata: { labels: { version } },
      spec: { containers: [{ name: app.name, image: imageOf(app, version) }] },
    },
  },
});

/** The images of the shop exist, whatever their version; another one cannot be pulled. */
export const canPull = (image: string): boolean => image.startsWith(registry);

/** An app runs on both families if its Service asks for both. */
export const isDualStack = ({ metadata }: RawObject): boolean =>
  apps.some((a) => a.dualStack && a.namespace === metadata.namespace && a.name === metadata.labels?.['app']);
