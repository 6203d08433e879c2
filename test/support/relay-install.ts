import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { relayManifest } from '#infra/relay/manifest.ts';
import { type Manifest, toYaml } from '#infra/relay/manifest-yaml.ts';
import type { ClustersetTasks } from '#infra/relay/set-tasks.ts';
import type { WriterTasks } from '#infra/relay/writer-tasks.ts';
import type { Connection } from '#shared/clusters/api/connection.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';

export const relayNamespace = 'fleet-endpoints';

/**
 * Everything of the relay's manifest but its Deployment, as a user applies it. `tasks`: what the cluster's
 * switches let the hub write; `clusterset`: what it has to do with the others of its set.
 */
export async function applyAccess(
  controlPlane: ControlPlane,
  tasks?: WriterTasks,
  clusterset?: ClustersetTasks,
): Promise<void> {
  const manifests = relayManifest({
    cluster: 'test',
    namespace: relayNamespace,
    eventsQueueUrl: 'https://sqs.example.com/events',
    region: 'eu-central-1',
    outputs: 'metadata',
    replicas: 2,
    resyncSeconds: '1800',
    program: { image: 'any' },
    ...(tasks && { tasks }),
    ...(clusterset && { clusterset }),
  });
  await applyManifests(
    controlPlane,
    manifests.filter((m) => m.kind !== 'Deployment'),
  );
}

export async function applyManifests(
  controlPlane: ControlPlane,
  manifests: readonly Manifest[],
): Promise<void> {
  await kubectl(controlPlane, ['apply', '--server-side', '-f', '-'], toYaml(manifests));
}

/** The cluster as the hub's functions enter it with a token. */
export const writerConnection = (controlPlane: ControlPlane): Promise<Connection> =>
  connectionOf(controlPlane, 'writer');
/** The cluster as its relay enters it. */
export const relayConnection = (controlPlane: ControlPlane): Promise<Connection> =>
  connectionOf(controlPlane, 'relay');

async function connectionOf(controlPlane: ControlPlane, serviceAccount: string): Promise<Connection> {
  const { token: _, ...connection } = controlPlane.connection;
  const token = await kubectl(controlPlane, [
    'create',
    'token',
    serviceAccount,
    '--namespace',
    relayNamespace,
    '--duration=2h',
  ]);
  return { ...connection, token: token.trim() };
}

/** A local run enters a cluster by one kubeconfig: its relay and its writer are one. */
export async function grantRelaysRights(
  controlPlane: ControlPlane,
  role = 'fleet-endpoints-relay',
): Promise<void> {
  const subject = `--serviceaccount=${relayNamespace}:writer`;
  await kubectl(controlPlane, [
    'create',
    'clusterrolebinding',
    `${role}-of-the-local-run`,
    `--clusterrole=${role}`,
    subject,
  ]);
}

/** Standard output of kubectl with the rights of cluster-admin. */
export async function kubectl(
  { binary, kubeconfig }: ControlPlane,
  args: readonly string[],
  input = '',
): Promise<string> {
  const child = spawn(binary, ['kubectl', `--kubeconfig=${kubeconfig}`, ...args]);
  const [out, err] = [child.stdout, child.stderr].map((stream) => stream.setEncoding('utf8').toArray());
  // A command that reads no input may end before it is written.
  child.stdin.on('error', () => {}).end(input);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ends with ${code}: ${(await err)?.join('')}`);
  return ((await out) ?? []).join('');
}
