import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type Api, connectApi } from '#test/e2e/api.ts';
import type { Environment, LocalCloud } from '#test/support/aws/local-cloud.ts';
import { type PodIdentityAgent, podIdentityAudience } from '#test/support/aws/pod-identity-agent.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { eventually, run } from './operator.ts';

const builtIn = 'namespace-controller,garbage-collector-controller';
const namespace = 'fleet-endpoints';
/** The issuer of the service accounts' tokens, which IAM knows as an OIDC provider. */
export const issuer = 'kubernetes.default.svc';

interface ServedClusterProps {
  readonly id: string;
  readonly controlPlane: ControlPlane;
  readonly secretArn: string;
  readonly cloud: LocalCloud;
  readonly folder: string;
}

/**
 * A real control plane, and its operators' actions. Without a kubelet, the relay runs beside it by its
 * Deployment, and has its identity in AWS.
 */
export class ServedCluster {
  readonly id: string;
  readonly controlPlane: ControlPlane;
  readonly api: Api;
  readonly #folder: string;
  readonly #cloud: LocalCloud;
  /** Holds the writer's token, once the relay's manifest has made the writer. */
  readonly secretArn: string;
  #relay: ChildProcess | undefined;
  /** Environment that gives the relay its identity in AWS. */
  relayIdentity: Environment = {};

  private constructor({ id, controlPlane, secretArn, cloud, folder }: ServedClusterProps) {
    this.id = id;
    this.controlPlane = controlPlane;
    this.api = connectApi(controlPlane.connection);
    this.#folder = folder;
    this.#cloud = cloud;
    this.secretArn = secretArn;
  }

  /** Kubernetes' own endpoint controllers run at first, as on any cluster. */
  static async start(
    id: string,
    cloud: LocalCloud,
    folder: string,
    endpointControllers: 'on' | 'off' = 'on',
  ): Promise<ServedCluster> {
    const controllers =
      endpointControllers === 'on' ? `${builtIn},endpoints-controller,endpointslice-controller` : builtIn;
    const controlPlane = await startControlPlane({ controllers });
    const secret = await cloud.call('secretsmanager', 'create_secret', {
      Name: `writer-${id}`,
      SecretString: '{"token":"none yet"}',
    });
    const cluster = new ServedCluster({
      ...{ id, controlPlane, cloud, folder },
      secretArn: (secret as { ARN: string }).ARN,
    });
    await cluster.api.create('Node', '', { metadata: { name: 'node' } });
    const spec = { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] };
    await cluster.api.create('Service', 'default', { metadata: { name: 'web' }, spec });
    return cluster;
  }

  async kubectl(args: readonly string[], input?: string): Promise<string> {
    const { binary, kubeconfig } = this.controlPlane;
    const options = {
      env: { PATH: process.env['PATH'] ?? '', HOME: this.#folder },
      ...(input !== undefined && { input }),
    };
    return (await run(binary, ['kubectl', `--kubeconfig=${kubeconfig}`, ...args], options)).stdout;
  }

  createNamespace(): Promise<string> {
    return this.kubectl(['create', 'namespace', namespace]);
  }

  dryRun(manifest: string): Promise<string> {
    return this.kubectl(
      ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '-f', '-'],
      manifest,
    );
  }

  apply(manifest: string): Promise<string> {
    return this.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], manifest);
  }

  /** By a TokenRequest, as the kubelet asks for one. */
  async token(
    serviceAccount: string,
    {
      audience,
      expirationSeconds = 7200,
    }: { readonly audience?: string; readonly expirationSeconds?: number } = {},
  ): Promise<string> {
    const forWhom = audience ? [`--audience=${audience}`] : [];
    const args = [
      'create',
      'token',
      serviceAccount,
      '--namespace',
      namespace,
      `--duration=${expirationSeconds}s`,
      ...forWhom,
    ];
    return (await this.kubectl(args)).trim();
  }

  /** For the hub, which is let in by it. */
  async putToken(): Promise<void> {
    const SecretString = JSON.stringify({ token: await this.token('writer') });
    await this.#cloud.call('secretsmanager', 'put_secret_value', { SecretId: this.secretArn, SecretString });
  }

  /**
   * Plays the kubelet: environment, volumes and mounts are those of the printed Deployment, and the API
   * server issues the tokens. The pod's paths lie under a folder, so paths in the manifest are read there.
   * `podIdentity`: the agent of its node, on EKS.
   */
  async startRelay(
    manifest: string,
    {
      program = 'dist/relay/relay.mjs',
      podIdentity,
    }: { readonly program?: string; readonly podIdentity?: PodIdentityAgent | undefined } = {},
  ): Promise<void> {
    const root = join(this.#folder, `${this.id}-pod`);
    const { server, ca = '' } = this.controlPlane.connection;
    const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';
    await putFile(join(root, serviceAccount, 'ca.crt'), ca);
    await putFile(join(root, serviceAccount, 'token'), await this.token('relay'));
    const { environment, tokens, serviceAccountName } = podOf(manifest);
    for (const { path, audience, expirationSeconds } of tokens) {
      await putFile(
        join(root, path),
        withPlainAudience(await this.token(serviceAccountName, { audience, expirationSeconds })),
      );
    }
    const mounted = (value: string): string =>
      tokens.some(({ mountPath }) => value.startsWith(`${mountPath}/`)) ? join(root, value) : value;
    const inPod = Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, mounted(value)]),
    );
    this.relayIdentity = Object.fromEntries(
      Object.entries(inPod).filter(([name]) => /^AWS_(ROLE_ARN|WEB_IDENTITY_TOKEN_FILE)$/.test(name)),
    );
    const tokenFile = join(root, 'eks-pod-identity-token');
    if (podIdentity)
      await putFile(tokenFile, await this.token(serviceAccountName, { audience: podIdentityAudience }));
    const env = {
      PATH: process.env['PATH'] ?? '',
      ...inPod,
      ...podIdentity?.environment(tokenFile),
      KUBERNETES_SERVICE_HOST: new URL(server).hostname,
      KUBERNETES_SERVICE_PORT: new URL(server).port,
      KUBE_API_CA_FILE: join(root, serviceAccount, 'ca.crt'),
      KUBE_API_TOKEN_FILE: join(root, serviceAccount, 'token'),
      ...this.#cloud.reach,
      RELAY_PORT: '0',
      RELAY_HOST: '127.0.0.1',
    };
    const log = openSync(join(this.#folder, `${this.id}-relay.log`), 'a');
    const relay = spawn(process.execPath, [program], { env, stdio: ['ignore', log, log] });
    closeSync(log);
    const kill = (): boolean => relay.kill('SIGKILL');
    process.once('exit', kill);
    relay.once('close', () => process.off('exit', kill));
    this.#relay = relay;
  }

  /** As `kubectl rollout restart`. */
  async restartRelay(manifest: string): Promise<void> {
    await this.stopRelay();
    await this.startRelay(manifest);
  }

  /** Resolves to the end of the relay's log. */
  async relayLog(): Promise<string> {
    const text = await readFile(join(this.#folder, `${this.id}-relay.log`), 'utf8').catch(() => '');
    return text.split('\n').slice(-15).join('\n');
  }

  async stopRelay(): Promise<void> {
    const relay = this.#relay;
    if (!relay || relay.exitCode !== null || relay.signalCode !== null) return;
    const gone = new Promise((resolve) => relay.once('close', resolve));
    relay.kill('SIGTERM');
    const impatient = setTimeout(() => relay.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(impatient);
  }

  /** As on every control-plane node before a cluster goes active. */
  async switchBuiltInControllersOff(): Promise<void> {
    await this.controlPlane.controllerManager.stop();
    await this.controlPlane.controllerManager.start([`--controllers=${builtIn}`]);
  }

  async addReadyPod(name: string, ip: string): Promise<void> {
    await this.api.create('Pod', 'default', {
      metadata: { name, labels: { app: 'web' } },
      spec: { nodeName: 'node', containers: [{ name: 'web', image: 'web' }] },
    });
    const conditions = [{ type: 'Ready', status: 'True' }];
    await this.api.patchStatus('Pod', 'default', name, {
      status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions },
    });
  }

  async removePod(name: string): Promise<void> {
    await this.api.delete('Pod', 'default', name, { gracePeriodSeconds: 0 });
  }

  /** Addresses of the service, as its Endpoints and as its slices have them. */
  async addresses(): Promise<{ readonly endpoints: readonly string[]; readonly slices: readonly string[] }> {
    const endpoints = await this.api.get('Endpoints', 'default', 'web');
    return {
      endpoints: (endpoints?.subsets ?? []).flatMap((s) => (s.addresses ?? []).map((a) => a.ip)).sort(),
      slices: await this.sliceAddresses('web'),
    };
  }

  async sliceAddresses(service: string): Promise<readonly string[]> {
    const { items } = await this.api.list('EndpointSlice', 'default');
    const slices = items.filter((s) => s.metadata.labels?.['kubernetes.io/service-name'] === service);
    return slices
      .flatMap((s) => (s.endpoints ?? []).filter((e) => e.conditions?.ready).flatMap((e) => e.addresses))
      .sort();
  }

  async untilAddresses(wanted: readonly string[], timeoutMs?: number): Promise<void> {
    await eventually(
      `${this.id} has the addresses ${wanted.join(', ')} in Endpoints and slices`,
      async () => {
        const found = await this.addresses();
        if (found.endpoints.join() === wanted.join() && found.slices.join() === wanted.join()) return true;
        throw new Error(`there are ${JSON.stringify(found)}; the relay:\n${await this.relayLog()}`);
      },
      timeoutMs,
    );
  }

  async stop(): Promise<void> {
    await this.stopRelay();
    this.api.close();
    await this.controlPlane.stop();
  }
}

interface ProjectedToken {
  readonly mountPath: string;
  /** Path of the file in the pod. */
  readonly path: string;
  readonly audience: string;
  readonly expirationSeconds: number;
}

interface Named {
  readonly name: string;
  readonly value?: string;
}

interface Volume extends Named {
  readonly projected?: {
    readonly sources: readonly {
      readonly serviceAccountToken?: Pick<ProjectedToken, 'path' | 'audience' | 'expirationSeconds'>;
    }[];
  };
}

/** Returns the pod that the kubelet would start from the relay's Deployment. */
function podOf(manifest: string): {
  readonly environment: Environment;
  readonly tokens: readonly ProjectedToken[];
  readonly serviceAccountName: string;
} {
  const objects = parseAllDocuments(manifest).map((d) => d.toJS());
  const { spec } = objects.find((o) => o.kind === 'Deployment').spec.template;
  const { env, volumeMounts = [] } = spec.containers[0] as {
    readonly env: readonly Named[];
    readonly volumeMounts?: readonly (Named & { readonly mountPath: string })[];
  };
  const volumes: readonly Volume[] = spec.volumes ?? [];
  return {
    serviceAccountName: spec.serviceAccountName,
    environment: Object.fromEntries(
      env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
    ),
    tokens: volumeMounts.flatMap(({ name, mountPath }) =>
      (volumes.find((v) => v.name === name)?.projected?.sources ?? []).flatMap(
        ({ serviceAccountToken: token }) =>
          token ? [{ ...token, mountPath, path: join(mountPath, token.path) }] : [],
      ),
    ),
  };
}

async function putFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode: 0o600 });
}

/**
 * Kubernetes writes a list of one, which AWS takes; the local cloud compares text, and checks no signature.
 */
function withPlainAudience(token: string): string {
  const [header, payload = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return [
    header,
    Buffer.from(JSON.stringify({ ...claims, aud: claims.aud[0] })).toString('base64url'),
    signature,
  ].join('.');
}
