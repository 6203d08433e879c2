/** Whether a cluster is ready to be switched to `active`: every finding is printed, and one that is not met refuses the switch. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { STSClient } from '@aws-sdk/client-sts';
import { clusterCredentials } from '#shared/cluster/cluster-credentials.ts';
import type { Connection } from '#shared/cluster/connection.ts';
import { httpsClusterApi } from '#shared/cluster/https.ts';
import { isActiveWithoutConflict } from '#shared/clusters/mode.ts';
import { recordReady } from '#shared/clusters/readiness.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { fieldManager } from '#shared/contract/managed-by.ts';
import { countDifferences } from '#shared/store/shadow-record.ts';
import type { Hub } from './connect-hub.ts';
import { readOverdueRuns } from './overdue-runs.ts';
import {
  accessFindings,
  controllersOff,
  declaredOff,
  type Finding,
  notDeclaredOff,
  onlyControllersLeft,
  recordedFindings,
  shadowFindings,
  wasReady,
} from './preflight.ts';
import { say } from './printable.ts';
import { UsageError } from './usage-error.ts';

export async function checkReady(hub: Hub, meta: ClusterRecord, quietMs: number, namespace: string, controllersDeclaredOff: boolean): Promise<void> {
  if (isActiveWithoutConflict(meta)) return;
  const findings = await preflight(hub, meta, quietMs, namespace, controllersDeclaredOff);
  for (const { check, ok, detail } of findings) say(`${meta.id}  ${ok ? 'ok  ' : 'NOT '} ${check}: ${detail}`);
  if (findings.every((f) => f.ok)) return;
  if (!onlyControllersLeft(findings)) throw new UsageError(`${meta.id} stays ${meta.mode}: see above; --override switches it all the same`);
  if (!wasReady(meta, hub.now())) await recordReady(hub.table, meta.id, hub.now());
  throw new UsageError(
    `${meta.id} stays ${meta.mode} until its own controllers are off; for an hour what differs because nobody writes does not count`,
  );
}

async function preflight(
  hub: Hub,
  meta: ClusterRecord,
  quietMs: number,
  namespace: string,
  controllersDeclaredOff: boolean,
): Promise<readonly Finding[]> {
  const [differences, owed] = await Promise.all([countDifferences(hub.table, meta.id), readOverdueRuns(hub.table, meta, hub.now())]);
  const shadow = shadowFindings(meta, { differences, owed }, quietMs, hub.now());
  if (!hub.connectionsFile) {
    return [...shadow, ...(await deployedFindings(meta)), controllersDeclaredOff ? declaredOff : notDeclaredOff];
  }
  const connections = JSON.parse(await readFile(hub.connectionsFile, 'utf8')) as { readonly [id: string]: Connection };
  const connection = connections[meta.id];
  if (!connection) return [...shadow, { check: 'reachable', ok: false, detail: 'no connection is known' }];
  const api = httpsClusterApi(connection, { fieldManager });
  try {
    const off = controllersDeclaredOff ? declaredOff : await controllersOff(api, namespace, Date.now().toString(36), (ms) => sleep(ms));
    return [...shadow, ...(await accessFindings(api)), off];
  } finally {
    api.close();
  }
}

/** With a secret we are who the functions are, so that their rights can be asked for. Otherwise the cluster knows the functions' roles and not us: they ask. */
async function deployedFindings(meta: ClusterRecord): Promise<readonly Finding[]> {
  const { api: access, uid } = meta;
  const reachable = (detail: string): Finding => ({ check: 'reachable', ok: false, detail });
  if (!access) return [reachable('the cluster has no api in clusters.yaml')];
  const { url, ca, auth } = access;
  if (auth.type !== 'secret') return recordedFindings(meta, Date.now());
  let api: ReturnType<typeof httpsClusterApi> | undefined;
  try {
    const credentials = clusterCredentials({ sts: new STSClient({}), secrets: new SecretsManagerClient({}), now: Date.now });
    api = httpsClusterApi({ server: url, ...(ca && { ca }), ...(await credentials.credentials(auth, false)) }, { fieldManager });
    const found = await api.identity();
    const known = {
      check: 'identity',
      ok: found === uid,
      detail: found === uid ? 'it is this cluster' : `it is another cluster: ${found}, not ${uid}`,
    };
    return [known, ...(await accessFindings(api))];
  } catch (e) {
    return [reachable(e instanceof Error ? e.message : String(e))];
  } finally {
    api?.close();
  }
}
