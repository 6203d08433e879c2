/** Credentials for the clusters that are not reached with a kubeconfig: from a secret, by web identity, or by a role of another account. */
import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { AssumeRoleCommand, GetWebIdentityTokenCommand, type STSClient } from '@aws-sdk/client-sts';
import type { ApiAccess } from '#shared/snapshot/meta.ts';
import type { Connection } from './connection.ts';
import type { AwsCredentials } from './eks-token.ts';
import { ClusterApiError } from './errors.ts';

type Auth = ApiAccess['auth'];

export interface AccessClients {
  readonly sts: STSClient;
  readonly secrets: SecretsManagerClient;
  readonly now: () => number;
}

export interface Access {
  /** What a secret or a web identity gives; kept for a while, asked for anew when `refresh` says that the API refused it. */
  readonly credentials: (auth: Auth, refresh: boolean) => Promise<Partial<Connection>>;
  /** Temporary credentials of the role that an EKS cluster is entered with. */
  readonly roleCredentials: (roleArn: string) => Promise<AwsCredentials>;
}

const keptMs = 5 * 60_000;
/** A web identity token is asked for with this life, and used for a third of it. */
const tokenSeconds = 900;

export function accessOf({ sts, secrets, now }: AccessClients): Access {
  const kept = new Map<string, { readonly at: number; readonly value: Promise<unknown> }>();

  /** One call serves everybody who asks meanwhile; one that fails is not kept. */
  function keep<T>(key: string, refresh: boolean, make: () => Promise<T>): Promise<T> {
    const held = kept.get(key);
    if (held && !refresh && now() - held.at < keptMs) return held.value as Promise<T>;
    const value = make();
    kept.set(key, { at: now(), value });
    value.catch(() => kept.delete(key));
    return value;
  }

  async function fromSecret(secretArn: string): Promise<Partial<Connection>> {
    const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: secretArn }));
    return credentialsOf(secretArn, SecretString ?? '');
  }

  async function fromWebIdentity(audience: string): Promise<Partial<Connection>> {
    const answer = await sts.send(new GetWebIdentityTokenCommand({ Audience: [audience], SigningAlgorithm: 'RS256', DurationSeconds: tokenSeconds }));
    return answer.WebIdentityToken ? { token: answer.WebIdentityToken } : {};
  }

  async function assume(roleArn: string): Promise<AwsCredentials> {
    const { Credentials } = await sts.send(new AssumeRoleCommand({ RoleArn: roleArn, RoleSessionName: 'fleet-endpoints' }));
    const { AccessKeyId: accessKeyId = '', SecretAccessKey: secretAccessKey = '', SessionToken: sessionToken } = Credentials ?? {};
    return { accessKeyId, secretAccessKey, sessionToken };
  }

  return {
    credentials: async (auth, refresh) => {
      try {
        if (auth.type === 'secret') return await keep(auth.secretArn, refresh, () => fromSecret(auth.secretArn));
        if (auth.type === 'web-identity') return await keep(auth.audience, refresh, () => fromWebIdentity(auth.audience));
        return {};
      } catch (cause) {
        throw cause instanceof ClusterApiError
          ? cause
          : new ClusterApiError(`no credentials by ${auth.type}: ${String(cause)}`, { status: 401, cause });
      }
    },
    roleCredentials: (roleArn) => keep(roleArn, false, () => assume(roleArn)),
  };
}

/** Our own plain JSON, never a kubeconfig: one of those can name programs to run and files to read. */
function credentialsOf(secretArn: string, text: string): Partial<Connection> {
  let fields: { readonly [field: string]: unknown } | undefined;
  try {
    fields = JSON.parse(text) as { readonly [field: string]: unknown };
  } catch {
    fields = undefined;
  }
  const { token, clientCertificate, clientKey } = fields ?? {};
  if (typeof token === 'string') return { token };
  if (typeof clientCertificate === 'string' && typeof clientKey === 'string') return { clientCertificate, clientKey };
  throw new ClusterApiError(`secret ${secretArn} holds neither {"token"} nor {"clientCertificate", "clientKey"}`, { status: 401 });
}
