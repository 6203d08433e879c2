/**
 * Reads a user's kubeconfig, runs its plug-ins, and returns what the other programs take: addresses,
 * certificates and tokens.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { delimiter, dirname } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { Connection, TokenSource } from '#shared/clusters/api/connection.ts';

export interface KubeconfigCluster {
  readonly context: string;
  /** Of the context; `default` without one. */
  readonly namespace: string;
  /**
   * Resolves to the connection with its current token. `refresh` reads the file and runs an exec plug-in
   * again, even if the last token is still valid.
   */
  connection(refresh?: boolean): Promise<Connection>;
  readonly token: TokenSource;
}

/** A file, or several as KUBECONFIG names them: merged as kubectl does, where the first one has precedence. */
export type Kubeconfig = string | readonly string[];

/** Reads the file, chooses the context and gets credentials once. Rejects with a UsageError of one line. */
export async function kubeconfigCluster(given: Kubeconfig, context?: string): Promise<KubeconfigCluster> {
  const files = [given].flat();
  const file = files.join(delimiter);
  let config = await load(files, context);
  async function connection(refresh = false): Promise<Connection> {
    // The cache of tokens belongs to the KubeConfig, so a new one has an empty cache.
    if (refresh) config = await load(files, context);
    return connectionOf(config, file);
  }
  await connection();
  return {
    context: config.currentContext,
    namespace: config.getContextObject(config.currentContext)?.namespace ?? 'default',
    connection,
    token: async (refresh) => (await connection(refresh)).token,
  };
}

/** Names of all contexts. */
export const contextsOf = async (given: Kubeconfig): Promise<readonly string[]> =>
  (await readAll([given].flat())).getContexts().map(({ name }) => name);

async function load(files: readonly string[], context: string | undefined): Promise<KubeConfig> {
  const config = await readAll(files);
  choose(config, files.join(delimiter), context);
  return config;
}

/** Of several files, kubectl passes over those that do not exist. */
async function readAll(files: readonly string[]): Promise<KubeConfig> {
  const there = files.length === 1 ? files : files.filter((file) => existsSync(file));
  const configs = await Promise.all((there.length === 0 ? files.slice(0, 1) : there).map(read));
  const [only] = configs;
  if (only && configs.length === 1) return only;
  const merged = new KubeConfig();
  merged.loadFromOptions({
    clusters: firstOfName(configs.flatMap((config) => config.getClusters())),
    users: firstOfName(configs.flatMap((config) => config.getUsers())),
    contexts: firstOfName(configs.flatMap((config) => config.getContexts())),
    currentContext: configs.find((config) => config.currentContext)?.currentContext ?? '',
  });
  return merged;
}

const firstOfName = <T extends { readonly name: string }>(all: readonly T[]): readonly T[] =>
  all.filter(({ name }, i) => all.findIndex((other) => other.name === name) === i);

async function read(file: string): Promise<KubeConfig> {
  const config = new KubeConfig();
  const text = await readFile(file, 'utf8').catch((e: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot read kubeconfig ${file}: ${reasons[e.code ?? ''] ?? firstLine(e)}`);
  });
  try {
    // An invalid entry affects only the contexts that use it.
    config.loadFromString(text, { onInvalidEntry: 'filter' });
    config.makePathsAbsolute(dirname(file));
  } catch (e) {
    // For an empty file or plain text the client throws a TypeError about its own code, which would not help
    // the user.
    throw new UsageError(`${file} is not a kubeconfig${e instanceof TypeError ? '' : `: ${firstLine(e)}`}`);
  }
  return config;
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
};

function choose(config: KubeConfig, file: string, context: string | undefined): void {
  const names = config.getContexts().map((c) => c.name);
  const wanted = context ?? config.currentContext;
  if (!wanted)
    throw new UsageError(
      `kubeconfig ${file} has no current context: choose one with --context (${names.join(', ') || 'it has none'})`,
    );
  const found = config.getContextObject(wanted);
  if (!found)
    throw new UsageError(`kubeconfig ${file} has no context ${wanted}; it has ${names.join(', ') || 'none'}`);
  config.setCurrentContext(wanted);
  const cluster = config.getCurrentCluster();
  if (!cluster?.server)
    throw new UsageError(
      `kubeconfig ${file}: context ${wanted} names cluster ${found.cluster}, which has no server`,
    );
  if (!URL.canParse(cluster.server))
    throw new UsageError(`kubeconfig ${file}: ${cluster.server} is not the address of a server`);
  if (cluster.proxyUrl)
    throw new UsageError(
      `kubeconfig ${file}: cluster ${found.cluster} is reached by proxy-url, which is not supported`,
    );
  // Without TLS there is nothing to verify; the client asks for this all the same.
  if (new URL(cluster.server).protocol === 'http:') Object.assign(cluster, { skipTLSVerify: true });
  if (!config.getCurrentUser())
    throw new UsageError(
      `kubeconfig ${file}: context ${wanted} names user ${found.user}, which does not exist`,
    );
}

async function connectionOf(config: KubeConfig, file: string): Promise<Connection> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (e) {
    throw new UsageError(
      `kubeconfig ${file}: no credentials for context ${config.currentContext}: ${firstLine(e)}`,
    );
  }
  const { ca, cert, key, servername, rejectUnauthorized, headers } = options;
  const token = /^Bearer (.+)$/.exec(
    String((headers as { Authorization?: string } | undefined)?.Authorization ?? ''),
  )?.[1];
  return {
    server: config.getCurrentCluster()?.server ?? '',
    ...(ca && { ca: String(ca) }),
    ...(servername && { serverName: servername }),
    ...(rejectUnauthorized === false && { insecureSkipTlsVerify: true }),
    ...(cert && key && { clientCertificate: String(cert), clientKey: String(key) }),
    ...(token && { token }),
  };
}

const firstLine = (e: unknown): string => ((e as Error).message || String(e)).trim().split('\n')[0] as string;
