/** May the hub write to this cluster? Asked as the functions, or of what sweep has asked as them. */
import { readFile } from 'node:fs/promises';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { STSClient } from '@aws-sdk/client-sts';
import { clusterCredentials } from '#shared/cluster-api/cluster-credentials.ts';
import type { Connection } from '#shared/cluster-api/connection.ts';
import { type HttpsClusterApi, httpsClusterApi } from '#shared/cluster-api/https.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { fieldManager } from '#shared/contract/managed-by.ts';
import type { Hub } from './connect-hub.ts';
import { type AskedFor, accessFindings, type Finding, recordedFindings } from './preflight.ts';

/** Returns the API of a cluster in a local run; undefined if the hub is deployed, or has no connection to the cluster. */
export async function localApi({ connectionsFile }: Pick<Hub, 'connectionsFile'>, id: string): Promise<HttpsClusterApi | undefined> {
  if (!connectionsFile) return undefined;
  const connections = JSON.parse(await readFile(connectionsFile, 'utf8')) as { readonly [id: string]: Connection };
  const connection = connections[id];
  return connection && httpsClusterApi(connection, { fieldManager });
}

export async function rightsFindings(hub: Pick<Hub, 'connectionsFile'>, cluster: ClusterRecord, what: AskedFor): Promise<readonly Finding[]> {
  if (!hub.connectionsFile) return deployedFindings(cluster, what);
  const api = await localApi(hub, cluster.id);
  if (!api) return [{ check: 'reachable', ok: false, detail: 'there is no connection to it' }];
  try {
    return await accessFindings(api, cluster, what);
  } finally {
    api.close();
  }
}

/** With a secret we are who the functions are, so that their rights can be asked for. Otherwise the cluster knows the functions' roles and not us: they ask. */
async function deployedFindings(cluster: ClusterRecord, what: AskedFor): Promise<readonly Finding[]> {
  const { api: access, uid } = cluster;
  const reachable = (detail: string): Finding => ({ check: 'reachable', ok: false, detail });
  if (!access) return [reachable('the cluster has no api in clusters.yaml')];
  const { url, ca, auth } = access;
  if (auth.type !== 'secret') return recordedFindings(cluster, Date.now(), what);
  let api: HttpsClusterApi | undefined;
  try {
    const credentials = clusterCredentials({ sts: new STSClient({}), secrets: new SecretsManagerClient({}), now: Date.now });
    api = httpsClusterApi({ server: url, ...(ca && { ca }), ...(await credentials.credentials(auth, false)) }, { fieldManager });
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
