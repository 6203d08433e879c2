/** CoreDNS as a pod behind a Service, with the configuration and the rights of docs/use/clusterset.md. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ControlPlane } from '#test/support/control-plane/control-plane.ts';
import { kubeconfigText } from '#test/support/control-plane/kubeconfig.ts';
import { kubectl } from '#test/support/relay-install.ts';
import type { ClusterNodes } from './cluster-nodes.ts';
import { dnsAddress } from './network.ts';

const namespace = 'kube-system';

/** `multicluster`: with clusterset.local, which needs the kinds of the Multi-Cluster Services API. */
export async function startDns(
  nodes: ClusterNodes,
  controlPlane: ControlPlane,
  { multicluster = false } = {},
): Promise<void> {
  const admin = (...args: readonly string[]): Promise<string> => kubectl(controlPlane, args);
  await admin('create', 'serviceaccount', 'coredns', '-n', namespace);
  const read = ['create', 'clusterrole', 'coredns', '--verb=list,watch'];
  await admin(...read, '--resource=services,pods,namespaces,endpointslices.discovery.k8s.io');
  if (multicluster)
    await admin(
      'create',
      'clusterrole',
      'coredns-multicluster',
      '--verb=list,watch',
      '--resource=serviceimports.multicluster.x-k8s.io',
    );
  for (const role of ['coredns', ...(multicluster ? ['coredns-multicluster'] : [])])
    await admin(
      'create',
      'clusterrolebinding',
      role,
      `--clusterrole=${role}`,
      `--serviceaccount=${namespace}:coredns`,
    );
  const { server, ca } = controlPlane.connection;
  const token = (await admin('create', 'token', 'coredns', '-n', namespace, '--duration=2h')).trim();
  const file = (name: string): string => join(dirname(controlPlane.kubeconfig), name);
  await writeFile(file('coredns.yaml'), kubeconfigText({ server, ...(ca && { ca }), token }), {
    mode: 0o600,
  });
  await writeFile(file('Corefile'), corefile(file('coredns.yaml'), multicluster));
  await kubectl(
    controlPlane,
    ['apply', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  );
  await nodes.event(`${namespace}/coredns`, 'started');
  nodes.exec(`${namespace}/coredns`, ['coredns', '-conf', file('Corefile'), '-dns.port', '53']);
  await nodes.event(`${namespace}/coredns`, 'ready');
}

const corefile = (kubeconfig: string, multicluster: boolean): string => `
. {
    errors
    ready
    kubernetes cluster.local ${multicluster ? 'clusterset.local ' : ''}in-addr.arpa ip6.arpa {
        kubeconfig ${kubeconfig}
        pods insecure
        ${multicluster ? 'multicluster clusterset.local' : ''}
        fallthrough in-addr.arpa ip6.arpa
    }
}
`;

const objects = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace },
    spec: {
      clusterIP: dnsAddress,
      selector: { app: 'coredns' },
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53 },
      ],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'coredns', namespace, labels: { app: 'coredns' } },
    spec: {
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'c',
          image: 'coredns',
          readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
        },
      ],
    },
  },
];
