/** Objects of a user: a Deployment of servers, and its Service. */
export interface Servers {
  readonly name?: string;
  readonly namespace: string;
  readonly replicas: number;
  /** Seconds for which a pod goes on serving after its deletion. */
  readonly preStop?: number;
  /** Of every pod; by default they are spread. */
  readonly nodeName?: string;
  readonly service?: object;
  readonly annotations?: { readonly [key: string]: string };
}

export const port = 8080;

export const namespaceOf = (name: string, labels: { readonly [key: string]: string } = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

export function deployment({ name = 'web', namespace, replicas, preStop = 4, nodeName }: Servers): object {
  const container = {
    name: 'c',
    image: 'server',
    ports: [
      { name: 'http', containerPort: port },
      { name: 'dns', containerPort: port, protocol: 'UDP' },
    ],
    readinessProbe: { httpGet: { path: '/ready', port }, periodSeconds: 1, failureThreshold: 1 },
    lifecycle: { preStop: { sleep: { seconds: preStop } } },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { automountServiceAccountToken: false, containers: [container], nodeName },
      },
    },
  };
}

export function service({
  name = 'web',
  namespace,
  service: spec = {},
  annotations = {},
}: Omit<Servers, 'replicas'>): object {
  const ports = [
    { name: 'http', port: 80, targetPort: port },
    { name: 'udp', port: 80, targetPort: port, protocol: 'UDP' },
  ];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, annotations },
    spec: { selector: { app: name }, ports, ...spec },
  };
}
