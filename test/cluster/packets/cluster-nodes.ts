/** The nodes of a cluster: a network namespace with kube-proxy for each, and the kubelets' stand-in. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { until } from '#test/cluster/faults/until.ts';
import type { Api } from '#test/e2e/api.ts';
import type { ControlPlane } from '#test/support/control-plane/control-plane.ts';
import { nodeProgramsBinary } from '#test/support/control-plane/control-plane-binary.ts';
import { addNode, type NodeNetwork, nodeNetwork, podRanges, removeNode } from './network.ts';
import { type Program, startProgram } from './program.ts';

/** An event of the kubelets' stand-in. */
export interface PodEvent {
  /** Unix time in ms: the API server has accepted the change. */
  readonly atMs: number;
  /** NAMESPACE/NAME. */
  readonly pod: string;
  readonly event: 'started' | 'ready' | 'not ready' | 'terminating' | 'ended';
  readonly addresses: readonly string[];
}

export interface ClusterNodes {
  readonly cluster: string;
  readonly networks: readonly NodeNetwork[];
  readonly events: readonly PodEvent[];
  /** The first such event of a pod at or after `sinceMs`. Throws if none comes in 60 s. */
  event(pod: string, event: PodEvent['event'], sinceMs?: number): Promise<PodEvent>;
  /** Pods by NAMESPACE/NAME whose last event is `ready`. */
  readyPods(prefix: string): readonly string[];
  /** Runs one of the programs in a pod, as kubectl exec does. */
  exec(pod: string, command: readonly string[], onLine?: (line: string) => void): Program;
  /** Standard error of all programs. */
  readonly said: readonly string[];
  stop(): Promise<void>;
}

export interface NodesSetup {
  readonly cluster: string;
  readonly controlPlane: ControlPlane;
  readonly api: Api;
  readonly nodes?: number;
}

export async function startNodes({
  cluster,
  controlPlane,
  api,
  nodes = 2,
}: NodesSetup): Promise<ClusterNodes> {
  const binary = await nodeProgramsBinary();
  const networks = Array.from({ length: nodes }, (_, i) => nodeNetwork(cluster, i));
  const events: PodEvent[] = [];
  const programs: Program[] = [];
  for (const network of networks) {
    await addNode(network);
    await register(api, network);
    const config = join(dirname(controlPlane.kubeconfig), `kube-proxy-${network.name}.yaml`);
    await writeFile(config, proxyConfig(cluster, controlPlane, network));
    programs.push(startProgram(network.namespace, [binary, 'kube-proxy', '--config', config]));
  }
  const spec = networks
    .map(({ name, namespace, addresses, ranges }) => [name, namespace, addresses[0], ...ranges].join('='))
    .join();
  const kubelet = [
    binary,
    'kubelet',
    '--cluster',
    cluster,
    '--kubeconfig',
    controlPlane.kubeconfig,
    '--nodes',
    spec,
  ];
  programs.push(startProgram(undefined, kubelet, (line) => events.push(JSON.parse(line))));

  return {
    cluster,
    networks,
    events,
    async event(pod, event, sinceMs = 0) {
      const found = await until(() =>
        events.find((e) => e.pod === pod && e.event === event && e.atMs >= sinceMs),
      );
      if (!found)
        throw new Error(
          `${cluster}: pod ${pod} is not "${event}"; its events: ${JSON.stringify(events.filter((e) => e.pod === pod))}`,
        );
      return found;
    },
    readyPods(prefix) {
      const last = new Map(events.map(({ pod, event }) => [pod, event]));
      return [...last].flatMap(([pod, event]) => (event === 'ready' && pod.startsWith(prefix) ? [pod] : []));
    },
    exec(pod, [name, ...args], onLine) {
      const program = startProgram(
        `${cluster}-${pod.replace('/', '-')}`,
        [binary, name as string, ...args],
        onLine,
      );
      programs.push(program);
      return program;
    },
    get said() {
      // klog's lines of information begin with I.
      return programs.flatMap(({ said }) => said.filter((line) => !/^I\d{4} /.test(line)));
    },
    async stop() {
      await Promise.all(programs.map((program) => program.stop()));
      await Promise.all(networks.map(removeNode));
    },
  };
}

async function register(api: Api, { name, addresses, zone }: NodeNetwork): Promise<void> {
  const labels = { 'topology.kubernetes.io/zone': zone, 'kubernetes.io/hostname': name };
  if (await api.get('Node', '', name)) await api.patch('Node', '', name, { metadata: { labels } });
  else await api.create('Node', '', { metadata: { name, labels } });
  const status = {
    addresses: addresses.map((address) => ({ type: 'InternalIP', address })),
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  await api.patchStatus('Node', '', name, { status } as never);
}

const proxyConfig = (cluster: string, { kubeconfig }: ControlPlane, { name }: NodeNetwork): string =>
  stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    hostnameOverride: name,
    clientConnection: { kubeconfig },
    clusterCIDR: podRanges(cluster).join(),
    metricsBindAddress: '127.0.0.1:10249',
    // Limits of the whole machine, which a namespace may not set.
    conntrack: { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  });
