import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePorts } from '#test/support/control-plane/control-plane.ts';
import { controlPlaneComponent } from '#test/support/control-plane/control-plane-component.ts';
import { authenticatorBinary } from './authenticator-binary.ts';
import { stsCertificate } from './sts-certificate.ts';
import type { StsStandIn } from './sts-stand-in.ts';

export interface AuthenticatorSettings {
  /** The name that a token must be signed for. */
  readonly clusterName: string;
  /** ARNs of roles by the groups of their access entries. */
  readonly groups: { readonly [roleArn: string]: readonly string[] };
}

/** The token webhook of EKS's API servers, aws-iam-authenticator, on 127.0.0.1. */
export interface EksAuthenticator {
  /** Flags of kube-apiserver. Answers are kept for a second, so that other settings show. */
  readonly apiServerFlags: readonly string[];
  /** Starts it again with other settings. */
  configure(settings: AuthenticatorSettings): Promise<void>;
  log(): Promise<string>;
  stop(): Promise<void>;
}

export async function startEksAuthenticator(
  settings: AuthenticatorSettings,
  sts: StsStandIn,
): Promise<EksAuthenticator> {
  const binary = await authenticatorBinary();
  const folder = await mkdtemp(join(tmpdir(), 'eks-authenticator-'));
  const file = (name: string): string => join(folder, name);
  const [port = 0] = await freePorts(1);
  await writeFile(file('sts.crt'), stsCertificate);
  const flags = [
    '--config',
    file('config.yaml'),
    '--state-dir',
    folder,
    '--generate-kubeconfig',
    file('webhook.yaml'),
    '--port',
    String(port),
  ];
  const program = controlPlaneComponent({
    name: 'server',
    binary,
    args: flags,
    logFile: file('log'),
    health: `https://127.0.0.1:${port}/healthz`,
    env: {
      HTTPS_PROXY: sts.proxy.url,
      SSL_CERT_FILE: file('sts.crt'),
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_REGION: 'us-east-1',
    },
  });
  async function configure({ clusterName, groups }: AuthenticatorSettings): Promise<void> {
    // A session of a role that an access entry names has this name by default.
    const mapRoles = Object.entries(groups).map(([roleARN, of]) => ({
      roleARN,
      username: `${roleARN}/{{SessionName}}`,
      groups: of,
    }));
    await program.stop();
    await writeFile(file('config.yaml'), stringify({ clusterID: clusterName, server: { mapRoles } }));
    await program.start();
  }
  await configure(settings);
  return {
    apiServerFlags: [
      `--authentication-token-webhook-config-file=${file('webhook.yaml')}`,
      '--authentication-token-webhook-cache-ttl=1s',
    ],
    configure,
    log: () => readFile(file('log'), 'utf8'),
    async stop() {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
