import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { componentsBinary, controlPlaneBinary } from './control-plane-binary.ts';
import { type Component, controlPlaneComponent } from './control-plane-component.ts';
import { kubeconfigText } from './kubeconfig.ts';

export interface ControlPlaneOptions {
  /** Controllers of kube-controller-manager, which is not started without them. */
  readonly controllers?: string;
  /** More flags of kube-controller-manager, such as --kube-api-qps. */
  readonly controllerManagerFlags?: readonly string[];
  /** Range of the cluster's Services, by default one of each family. */
  readonly serviceRange?: string;
  /** Address of kube-apiserver, by default 127.0.0.1. */
  readonly address?: string;
  /**
   * Kept at the end, and used again if it holds a cluster. By default a new folder that is removed at the
   * end.
   */
  readonly dataDir?: string;
  readonly say?: (line: string) => void;
}

/** A real cluster by its API. Without a kubelet, tests write the status of pods. */
export interface ControlPlane {
  /** The binary; its kubectl and load generator are useful to tests. */
  readonly binary: string;
  /** Path of a kubeconfig with the rights of cluster-admin. */
  readonly kubeconfig: string;
  readonly connection: Connection;
  readonly apiServer: Component;
  /** Can be started later, with `--controllers=…`, when it was not started at once. */
  readonly controllerManager: Component;
  stop(): Promise<void>;
}

/**
 * Starts etcd, kube-apiserver and, if asked, kube-controller-manager on free ports. About two seconds. The
 * latter two are of the version in KUBERNETES_VERSION, by default of the version that the hub follows.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binary = await controlPlaneBinary(options.say);
  const version = process.env['KUBERNETES_VERSION'];
  const components = version ? await componentsBinary(version, options.say) : binary;
  const folder = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'fleet-endpoints-control-plane-')));
  const file = (name: string): string => join(folder, name);
  const ports = await freePorts(4);
  const [etcdPort, peerPort, apiPort, managerPort] = ports.map(String);
  const address = options.address ?? '127.0.0.1';
  const token = 'admin-of-the-test-cluster';
  const kubeconfig = file('kubeconfig.yaml');

  await writeFile(file('tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  await writeFile(file('service-account.key'), await serviceAccountKey(file('service-account.key')));

  const component = (name: string, args: readonly string[], health: string): Component =>
    controlPlaneComponent({
      name,
      binary: name === 'etcd' ? binary : components,
      args,
      logFile: file(`${name}.log`),
      health,
      token,
    });
  const etcd = component(
    'etcd',
    etcdArgs(file('etcd'), `http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`),
    `http://127.0.0.1:${etcdPort}/health`,
  );
  const apiServer = component(
    'kube-apiserver',
    [
      `--etcd-servers=http://127.0.0.1:${etcdPort}`,
      `--bind-address=${address}`,
      `--advertise-address=${address}`,
      `--secure-port=${apiPort}`,
      `--cert-dir=${file('certificates')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${file('service-account.key')}`,
      `--service-account-signing-key-file=${file('service-account.key')}`,
      `--service-cluster-ip-range=${options.serviceRange ?? '10.0.0.0/16,fd00:10::/108'}`,
      '--authorization-mode=RBAC',
      `--token-auth-file=${file('tokens.csv')}`,
      // Nobody here makes the service accounts that pods would need.
      '--disable-admission-plugins=ServiceAccount',
      // Nobody but the controllers under test writes Endpoints.
      '--endpoint-reconciler-type=none',
    ],
    `https://${address}:${apiPort}/readyz`,
  );
  const controllerManager = component(
    'kube-controller-manager',
    [
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${managerPort}`,
      `--cert-dir=${file('controller-manager')}`,
      `--service-account-private-key-file=${file('service-account.key')}`,
    ],
    `https://127.0.0.1:${managerPort}/healthz`,
  );
  const stop = async (): Promise<void> => {
    await Promise.all([controllerManager.stop(), apiServer.stop(), etcd.stop()]);
    if (options.dataDir === undefined) await rm(folder, { recursive: true, force: true });
  };

  try {
    await etcd.start();
    await apiServer.start();
    const ca = await readFile(join(file('certificates'), 'apiserver.crt'), 'utf8');
    const connection = { server: `https://${address}:${apiPort}`, ca, token };
    await writeFile(kubeconfig, kubeconfigText(connection), { mode: 0o600 });
    if (options.controllers !== undefined)
      await controllerManager.start([
        `--controllers=${options.controllers}`,
        ...(options.controllerManagerFlags ?? []),
      ]);
    return { binary, kubeconfig, connection, apiServer, controllerManager, stop };
  } catch (e) {
    await stop();
    throw e;
  }
}

function etcdArgs(dataDir: string, client: string, peer: string): readonly string[] {
  return [
    `--data-dir=${dataDir}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // The data need not survive the machine, and a disk that is slow to sync would be what is measured.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

/** The one of an earlier start, so that a cluster taken up again can still read its tokens. */
async function serviceAccountKey(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(
    () =>
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
        type: 'pkcs1',
        format: 'pem',
      }) as string,
  );
}

/** All held open at once before any is given back, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
          const server = createServer().once('error', reject);
          server.listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
