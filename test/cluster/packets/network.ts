/**
 * Addresses, and the network namespaces of nodes. A node has a leg on the bridge of the outer namespace,
 * which routes between all nodes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface NodeNetwork {
  /** Name of the Node. */
  readonly name: string;
  /** Name of its network namespace. */
  readonly namespace: string;
  readonly addresses: readonly [string, string];
  /** Ranges of its pods. */
  readonly ranges: readonly [string, string];
  readonly zone: string;
}

/** Number of a cluster by its id: a is 1. */
const numberOf = (cluster: string): number => cluster.charCodeAt(0) - 96;

/** Address of a cluster's API server. */
export const apiAddress = (cluster: string): string => `10.255.${numberOf(cluster)}.1`;

/** The Services' ranges of all clusters are alike. */
export const dnsAddress = '10.0.0.10';

/** Ranges of all pods of a cluster, as test/clusterset/multi-cluster/fleet.ts has them in the policies. */
export const podRanges = (cluster: string): readonly string[] => [
  `10.${numberOf(cluster)}.0.0/16`,
  `fd00:${numberOf(cluster)}::/64`,
];

export function nodeNetwork(cluster: string, index: number): NodeNetwork {
  const c = numberOf(cluster);
  return {
    name: `node-${index}`,
    namespace: `${cluster}-node-${index}`,
    addresses: [`10.255.${c}.${index + 10}`, `fd00:255::${c}:${index + 10}`],
    ranges: [`10.${c}.${index}.0/24`, `fd00:${c}:0:0:${index}::/80`],
    zone: ['zone-a', 'zone-b', 'zone-c'][index % 3] as string,
  };
}

const bridge = 'backbone';

export async function addBackbone(): Promise<void> {
  await shell(`
    set -e
    ip link add ${bridge} type bridge
    ip link set ${bridge} up
    ${['a', 'b', 'c'].map((id) => `ip addr add ${apiAddress(id)}/16 dev ${bridge}`).join('\n')}
    ip addr add fd00:255::1/64 dev ${bridge} nodad
    ${forwarding}
  `);
}

/** Forwards, without redirects to senders. */
const forwarding = `
  echo 1 > /proc/sys/net/ipv4/ip_forward
  echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
  for f in /proc/sys/net/ipv4/conf/*/send_redirects; do echo 0 > $f; done
`;

export async function addNode({
  namespace,
  addresses: [v4, v6],
  ranges: [range4, range6],
}: NodeNetwork): Promise<void> {
  await shell(`
    set -e
    ip netns add ${namespace}
    ip link add ${namespace} type veth peer name eth0 netns ${namespace}
    ip link set ${namespace} master ${bridge} up
    ip netns exec ${namespace} sh -e -c '
      ip link set lo up
      ip link set eth0 up
      ip addr add ${v4}/16 dev eth0
      ip addr add ${v6}/64 dev eth0 nodad
      ip route add default via ${apiAddress('a')}
      ip route add default via fd00:255::1
      ip route add unreachable ${range4}
      ip route add unreachable ${range6}
      ${forwarding}
    '
    ip route replace ${range4} via ${v4}
    ip route replace ${range6} via ${v6}
  `);
}

export async function removeNode({ namespace }: NodeNetwork): Promise<void> {
  await shell(`ip link del ${namespace}; ip netns del ${namespace}`);
}

/** Cuts a node's leg, or mends it. */
export const cutNode = ({ namespace }: NodeNetwork, isCut: boolean): Promise<void> =>
  shell(`ip link set ${namespace} ${isCut ? 'down' : 'up'}`);

async function shell(script: string): Promise<void> {
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said = child.stderr.setEncoding('utf8').toArray();
  const [code] = await once(child, 'close');
  if (code !== 0)
    throw new Error(`the network script ends with ${code}: ${(await said).join('')}\n${script}`);
}
