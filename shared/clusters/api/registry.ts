/** The way to each cluster's API, made when it is first needed and kept by a warm worker. */

import { fieldManagerOf } from '#shared/kube/names.ts';
import type { ApiAccess, ClusterRecord } from '../record.ts';
import type { Access } from './cluster-credentials.ts';
import { type Connection, cachedFile, type TokenSource } from './connection.ts';
import { type AwsCredentials, eksToken } from './eks-token.ts';
import { ClusterApiError } from './errors.ts';
import { type HttpsClusterApi, httpsClusterApi } from './https.ts';
import type { ClusterApi } from './port.ts';

/**
 * Time for which a token is used, ms. It is valid for 15 minutes, and the server calls STS for each new
 * token.
 */
const tokenMs = 10 * 60_000;

/**
 * A worker has at most this number of connections to a cluster, and keeps them while they are idle. Further
 * requests but probes wait in line, which takes less processor time and no longer than a new connection for
 * each. A process may open 1,024 files, and has connections to a hundred clusters.
 */
const maxSockets = 8;

/**
 * A worker calls each of a hundred clusters about every ten seconds, and a new connection costs two round
 * trips. After a freeze, expired timers close old sockets before a request uses one, because a run reads the
 * table first.
 */
const idleMs = 20_000;

/**
 * Maximum size of an answer, bytes, so that one server cannot fill a worker's memory. An object has at most
 * some 1.5 MB, and list.ts bounds pages.
 */
const maxBytes = 32 * 1024 * 1024;

export interface RegistryOptions {
  /** Local runs: file with connections by cluster id, read again at most once a second. */
  readonly connectionsFile: string | undefined;
  readonly credentials: () => Promise<AwsCredentials>;
  readonly region: string;
  /** Access to clusters by a secret, a web identity or a role. */
  readonly access: Access;
  readonly now: () => number;
  /** Called with the time of each request, ms. */
  readonly onRequest: (cluster: string, ms: number) => void;
  /** Limit of all pages of one list together, bytes, for callers that keep the whole list. */
  readonly maxListBytes?: number;
  /** Timeout of a request, ms. Default: the transport's own, 15 s. */
  readonly timeoutMs?: number;
  readonly proxyEnv?: NodeJS.ProcessEnv;
}

/**
 * `timeoutMs` returns the time limit of a call as it begins. If it throws, the call rejects with its error.
 */
export type ClusterRegistry = (cluster: ClusterRecord, timeoutMs?: () => number) => Promise<ClusterApi>;

export function clusterRegistry(options: RegistryOptions): ClusterRegistry {
  const apis = new Map<string, Entry>();
  return async (cluster, timeoutMs) => {
    const access = JSON.stringify([cluster.api, cluster.writer]);
    let entry = apis.get(cluster.id);
    if (!entry || entry.access !== access) {
      entry?.api.close();
      entry = { access, api: connect(options, cluster), verified: '' };
      apis.set(cluster.id, entry);
    }
    const api = timeoutMs ? entry.api.within(timeoutMs) : entry.api;
    await verify(cluster, entry, api);
    return api;
  };
}

interface Entry {
  readonly access: string;
  readonly api: HttpsClusterApi;
  verified: string;
}

/**
 * Throws if the API server belongs to another cluster. A worker checks this once for each identity in the
 * cluster's record.
 */
async function verify(cluster: ClusterRecord, entry: Entry, api: ClusterApi): Promise<void> {
  if (entry.verified === cluster.uid) return;
  const uid = await api.identity();
  if (cluster.uid !== '' && uid !== cluster.uid) {
    throw new ClusterApiError(
      `the API server of cluster ${cluster.id} answers as another cluster: kube-system has uid ${uid}, ${cluster.uid} is registered`,
      {},
    );
  }
  entry.verified = cluster.uid;
}

/**
 * Not async: concurrent runs of a cold worker would each find no client, and make their own with its own
 * sockets.
 */
function connect(options: RegistryOptions, cluster: ClusterRecord): HttpsClusterApi {
  const { connectionsFile, timeoutMs, maxListBytes, proxyEnv } = options;
  const clientOptions = {
    fieldManager: fieldManagerOf(cluster.writer),
    onRequest: (ms: number) => options.onRequest(cluster.id, ms),
    maxSockets,
    idleMs,
    maxBytes,
    ...(maxListBytes !== undefined && { maxListBytes }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(proxyEnv && { proxyEnv }),
  };
  if (connectionsFile !== undefined) {
    const file = cachedFile(connectionsFile, options.now, 1_000, (text) =>
      localConnection(connectionsFile, text, cluster.id),
    );
    return httpsClusterApi(() => file(false), clientOptions);
  }
  const { api } = cluster;
  if (!api) throw new ClusterApiError(`cluster ${cluster.id} has no API access: only shadow is possible`, {});
  const base = { server: api.url, ...(api.ca && { ca: pemOf(api.ca) }) };
  const { auth } = api;
  if (auth.type === 'eks')
    return httpsClusterApi(base, { ...clientOptions, token: eksTokens(cluster.id, options, auth) });
  // A certificate belongs to the connection, a token to each request; a refused token is read again.
  return httpsClusterApi(async () => ({ ...base, ...(await options.access.credentials(auth, false)) }), {
    ...clientOptions,
    token: async (refresh) => (await options.access.credentials(auth, refresh)).token,
  });
}

/**
 * Decodes EKS's base64 of PEM. CloudFormation resolves a construct's prop at the deploy, so no earlier code
 * can decode it.
 */
const pemOf = (ca: string): string => (ca.includes('-----BEGIN') ? ca : Buffer.from(ca, 'base64').toString());

function eksTokens(
  cluster: string,
  options: RegistryOptions,
  auth: ApiAccess['auth'] & { readonly type: 'eks' },
): TokenSource {
  const { clusterName, region = options.region, roleArn } = auth;
  const { access, credentials } = options;
  let token = '';
  let madeAt = Number.NEGATIVE_INFINITY;
  return async (refresh) => {
    if (refresh || options.now() - madeAt > tokenMs) {
      const at = options.now();
      const signing = await (roleArn === undefined
        ? credentials()
        : access.roleCredentials(roleArn, cluster));
      token = await eksToken(clusterName, region, signing, new Date(at));
      madeAt = at;
    }
    return token;
  };
}

function localConnection(file: string, text: string, cluster: string): Connection {
  const connection = (JSON.parse(text) as { readonly [id: string]: Connection })[cluster];
  if (!connection) throw new ClusterApiError(`no connection to cluster ${cluster} in ${file}`, {});
  return connection;
}
