/**
 * Credentials of clusters without a kubeconfig: from a secret, by web identity, or by a role of another
 * account.
 */
import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  AssumeRoleCommand,
  GetWebIdentityTokenCommand,
  type GetWebIdentityTokenResponse,
  type STSClient,
} from '@aws-sdk/client-sts';
import type { ApiAccess } from '../record.ts';
import type { Connection } from './connection.ts';
import type { AwsCredentials } from './eks-token.ts';
import { ClusterApiError, isWithoutCredentials, noCredentials } from './errors.ts';

type Auth = ApiAccess['auth'];

export interface AccessClients {
  readonly sts: STSClient;
  readonly secrets: SecretsManagerClient;
  readonly now: () => number;
}

export interface Access {
  /**
   * Returns cached credentials from a secret or a web identity. Reads them again with `refresh`, after the
   * API has refused them.
   */
  readonly credentials: (auth: Auth, refresh: boolean) => Promise<Partial<Connection>>;
  /** Returns temporary credentials of the role that gives access to an EKS cluster. */
  readonly roleCredentials: (roleArn: string, cluster: string) => Promise<AwsCredentials>;
}

const keptMs = 5 * 60_000;
/** Lifetime of a requested web identity token. It is used for a third of its life. */
const tokenSeconds = 900;
/** Lifetime that STS still grants if the function's own credentials end soon. */
const shortTokenSeconds = 300;
/**
 * Time from the last read of a secret for which it serves while AWS does not answer, ms, less `marginMs`. It
 * is read again each `keptMs`.
 */
const secretMs = 60 * 60_000;
/** Cached credentials are not used for this long before they expire, ms. */
const marginMs = 60_000;
/** Time between two attempts to renew them while AWS does not answer, ms. */
const tryAgainMs = 5_000;

/** A value that is valid for `lifeMs`. */
interface Made<T> {
  readonly value: T;
  readonly lifeMs: number;
}

interface Kept {
  readonly made: Made<unknown>;
  readonly atMs: number;
  /** Time of the next renewal, ms since the epoch. */
  askAtMs: number;
}

export function clusterCredentials({ sts, secrets, now }: AccessClients): Access {
  const kept = new Map<string, Kept>();
  const asked = new Map<string, Promise<Kept>>();

  /**
   * Concurrent callers share one call. While AWS does not answer, the cached credentials are used until they
   * expire.
   */
  async function keep<T>(
    key: string,
    refresh: boolean,
    what: string,
    make: () => Promise<Made<T>>,
  ): Promise<T> {
    const held = kept.get(key);
    if (held && !refresh && now() < held.askAtMs) return held.made.value as T;
    const asking = asked.get(key) ?? ask(key, what, make);
    asked.set(key, asking);
    try {
      return (await asking).made.value as T;
    } catch (error) {
      if (!held || refresh || !isWithoutCredentials(error) || now() > held.atMs + held.made.lifeMs - marginMs)
        throw error;
      held.askAtMs = now() + tryAgainMs;
      return held.made.value as T;
    }
  }

  async function ask<T>(key: string, what: string, make: () => Promise<Made<T>>): Promise<Kept> {
    try {
      const made = await make();
      const fresh = { made, atMs: now(), askAtMs: now() + Math.min(keptMs, made.lifeMs / 3) };
      kept.set(key, fresh);
      return fresh;
    } catch (cause) {
      throw failed(what, cause);
    } finally {
      asked.delete(key);
    }
  }

  async function fromSecret(secretArn: string): Promise<Made<Partial<Connection>>> {
    const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: secretArn }));
    return { value: credentialsOf(secretArn, SecretString ?? ''), lifeMs: secretMs };
  }

  async function fromWebIdentity(audience: string): Promise<Made<Partial<Connection>>> {
    const token = (DurationSeconds: number) =>
      sts.send(
        new GetWebIdentityTokenCommand({ Audience: [audience], SigningAlgorithm: 'RS256', DurationSeconds }),
      );
    const made = ({ WebIdentityToken }: GetWebIdentityTokenResponse, seconds: number) => ({
      value: WebIdentityToken ? { token: WebIdentityToken } : {},
      lifeMs: seconds * 1000,
    });
    try {
      return made(await token(tokenSeconds), tokenSeconds);
    } catch (error) {
      if ((error as Error).name !== 'SessionDurationEscalationException') throw error;
      return made(await token(shortTokenSeconds), shortTokenSeconds);
    }
  }

  /**
   * The role's trust policy can require the external id: then a principal that may write one cluster's access
   * record cannot make the hub use another cluster's role.
   */
  async function assume(roleArn: string, cluster: string): Promise<Made<AwsCredentials>> {
    const ExternalId = `fleet-endpoints/${cluster}`;
    const { Credentials } = await sts.send(
      new AssumeRoleCommand({ RoleArn: roleArn, RoleSessionName: 'fleet-endpoints', ExternalId }),
    );
    const {
      AccessKeyId: accessKeyId = '',
      SecretAccessKey: secretAccessKey = '',
      SessionToken: sessionToken,
      Expiration,
    } = Credentials ?? {};
    return {
      value: { accessKeyId, secretAccessKey, sessionToken },
      lifeMs: Expiration ? Expiration.getTime() - now() : tokenSeconds * 1000,
    };
  }

  return {
    credentials: async (auth, refresh) => {
      const what = `no credentials by ${auth.type}`;
      if (auth.type === 'secret')
        return keep(auth.secretArn, refresh, what, () => fromSecret(auth.secretArn));
      if (auth.type === 'web-identity')
        return keep(auth.audience, refresh, what, () => fromWebIdentity(auth.audience));
      return {};
    },
    roleCredentials: (roleArn, cluster) =>
      keep(`${roleArn} ${cluster}`, false, `no credentials of the role ${roleArn}`, () =>
        assume(roleArn, cluster),
      ),
  };
}

/**
 * Returns an error like a 401 for a refusal, because only a change of the cluster's configuration or rights
 * ends it. Other failures pass by themselves.
 */
function failed(what: string, cause: unknown): ClusterApiError {
  if (cause instanceof ClusterApiError) return cause;
  const message = `${what}: ${String(cause)}`;
  return isPassing(cause)
    ? new ClusterApiError(message, { reason: noCredentials, cause })
    : new ClusterApiError(message, { status: 401, cause });
}

/**
 * Returns true without an answer (a timeout, a broken connection), and for a fault of the service or a
 * throttle.
 */
function isPassing(cause: unknown): boolean {
  const {
    $metadata,
    $retryable,
    name = '',
  } = cause as {
    readonly $metadata?: { readonly httpStatusCode?: number };
    readonly $retryable?: object;
    readonly name?: string;
  };
  const status = $metadata?.httpStatusCode;
  return (
    status === undefined ||
    status >= 500 ||
    status === 429 ||
    $retryable !== undefined ||
    /Throttl|TooManyRequests|LimitExceeded/.test(name)
  );
}

/**
 * Reads this project's own JSON. A kubeconfig is refused, because it can name programs to run and files to
 * read.
 */
export function credentialsOf(secretArn: string, text: string): Partial<Connection> {
  let fields: { readonly [field: string]: unknown } | undefined;
  try {
    fields = JSON.parse(text) as { readonly [field: string]: unknown };
  } catch {
    fields = undefined;
  }
  const { token, clientCertificate, clientKey } = fields ?? {};
  if (typeof token === 'string') return { token };
  if (typeof clientCertificate === 'string' && typeof clientKey === 'string')
    return { clientCertificate, clientKey };
  throw new ClusterApiError(
    `secret ${secretArn} holds neither {"token"} nor {"clientCertificate", "clientKey"}`,
    { status: 401 },
  );
}
