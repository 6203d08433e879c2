/**
 * Finds if the hub may write to a cluster: in a local run by the cluster's API, otherwise by the answer that
 * sweep has recorded.
 */
import { readFile } from 'node:fs/promises';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { STSClient } from '@aws-sdk/client-sts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { say } from '#infra/cli/terminal/printable.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { commandClientConfig } from '#shared/aws-client-config.ts';
import { clusterCredentials } from '#shared/clusters/api/cluster-credentials.ts';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { type HttpsClusterApi, httpsClusterApi } from '#shared/clusters/api/https.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { fieldManager } from '#shared/kube/names.ts';
import { type AskedFor, accessFindings, type Check, clusterFindings, recordedFindings } from './preflight.ts';

/**
 * Returns the API of a cluster in a local run; undefined if the hub is deployed, or has no connection to the
 * cluster.
 */
export async function localApi(
  { connectionsFile }: Pick<Hub, 'connectionsFile'>,
  id: string,
): Promise<HttpsClusterApi | undefined> {
  if (!connectionsFile) return undefined;
  const connections = JSON.parse(await readFile(connectionsFile, 'utf8')) as {
    readonly [id: string]: Connection;
  };
  const connection = connections[id];
  return connection && httpsClusterApi(connection, { fieldManager });
}

export async function rightsFindings(
  hub: Pick<Hub, 'connectionsFile' | 'now'>,
  cluster: ClusterRecord,
  what: AskedFor,
): Promise<readonly Check[]> {
  if (!hub.connectionsFile) return deployedFindings(cluster, what, hub.now());
  const api = await localApi(hub, cluster.id);
  if (!api) return [{ check: 'reachable', ok: false, detail: 'there is no connection to it' }];
  try {
    return await accessFindings(api, cluster, what);
  } finally {
    api.close();
  }
}

/** Returns true if every check is ok. */
export function printChecks(id: string, checks: readonly Check[]): boolean {
  for (const { check, ok, detail } of checks) say(`${id}  ${ok ? 'ok  ' : 'NOT '} ${check}: ${detail}`);
  return checks.every(({ ok }) => ok);
}

export interface RequiredRights {
  readonly what: Exclude<AskedFor, 'active'>;
  readonly toAllow: string;
  /** The state of the switch without the rights, as a predicate after the cluster's id. */
  readonly refusal: string;
}

/**
 * Prints the checks before a switch, and throws a UsageError if one fails. The writer's RBAC and admission
 * policies in a cluster follow the switches of clusters.yaml as of their last application.
 */
export async function requireRights(
  hub: Hub,
  cluster: ClusterRecord,
  { what, toAllow, refusal }: RequiredRights,
): Promise<void> {
  const { id } = cluster;
  if (!cluster.api && !hub.connectionsFile)
    throw new UsageError(`${id} has no api to write to: off and shadow are allowed without one`);
  const findings = [...clusterFindings(cluster, hub.now()), ...(await rightsFindings(hub, cluster, what))];
  if (printChecks(id, findings)) return;
  if (findings.some((f) => f.check === 'rights' && !f.ok)) say(`${id}  to allow it, ${toAllow}`);
  throw new UsageError(`${id} ${refusal}: see above; --override switches it anyway`);
}

/**
 * With a secret we are who the functions are, so that their rights can be asked for. Otherwise the cluster
 * knows the functions' roles and not us: they ask.
 */
async function deployedFindings(
  cluster: ClusterRecord,
  what: AskedFor,
  nowMs: number,
): Promise<readonly Check[]> {
  const { api: access, uid } = cluster;
  const reachable = (detail: string): Check => ({ check: 'reachable', ok: false, detail });
  if (!access) return [reachable('the cluster has no api in clusters.yaml')];
  const { url, ca, auth } = access;
  if (auth.type !== 'secret') return recordedFindings(cluster, nowMs, what);
  let api: HttpsClusterApi | undefined;
  try {
    const [sts, secrets] = [
      new STSClient(commandClientConfig),
      new SecretsManagerClient(commandClientConfig),
    ];
    const credentials = clusterCredentials({ sts, secrets, now: Date.now });
    api = httpsClusterApi(
      { server: url, ...(ca && { ca }), ...(await credentials.credentials(auth, false)) },
      { fieldManager },
    );
    const found = await api.identity();
    const known = {
      check: 'identity',
      ok: found === uid,
      detail: found === uid ? 'it is this cluster' : `it is another cluster: ${found}, not ${uid}`,
    };
    return [known, ...(await accessFindings(api, cluster, what))];
  } catch (e) {
    return [reachable(e instanceof Error ? e.message : String(e))];
  } finally {
    api?.close();
  }
}
