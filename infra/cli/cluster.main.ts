/**
 * `npm run cluster -- list | audit | pause | shadow | active | register | rebuild CLUSTER|--all | opt-in CLUSTER off|shadow|active`: switches take effect with the next run of each service, within seconds, and leave an
 * audit record. `pause --all` is the kill switch. `active` checks first (preflight.ts); --override skips the checks, and the audit record says so.
 */
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { STSClient } from '@aws-sdk/client-sts';
import { clusterCredentials } from '#shared/cluster/cluster-credentials.ts';
import type { Connection } from '#shared/cluster/connection.ts';
import { httpsClusterApi } from '#shared/cluster/https.ts';
import { listAudit, recordAudit } from '#shared/clusters/audit.ts';
import { hasSynced } from '#shared/clusters/first-lists.ts';
import { type ChosenMode, isActiveWithoutConflict, isDeregistered, isShadow } from '#shared/clusters/mode.ts';
import { switchMode } from '#shared/clusters/mode-switch.ts';
import { recordReady } from '#shared/clusters/readiness.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { blockedBy } from '#shared/clusters/writer-conflict.ts';
import { concurrently } from '#shared/concurrently.ts';
import { fieldManager } from '#shared/contract/managed-by.ts';
import { countDifferences } from '#shared/store/shadow-record.ts';
import { jsonLog } from '#shared/telemetry/log.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import { chosenClusters, command, connectHub, type Hub } from './connect-hub.ts';
import { switchServicesThatOptIn } from './opt-in-switch.ts';
import { readOverdueRuns } from './overdue-runs.ts';
import {
  accessFindings,
  controllersOff,
  declaredOff,
  defaultQuietMs,
  type Finding,
  notDeclaredOff,
  onlyControllersLeft,
  recordedFindings,
  shadowFindings,
  wasReady,
} from './preflight.ts';
import { say } from './printable.ts';
import { rebuild } from './rebuild.ts';
import { register } from './register.ts';
import { UsageError } from './usage-error.ts';

const modeOf: { readonly [verb: string]: ChosenMode } = { pause: 'paused', shadow: 'shadow', active: 'active' };
/** No lease of a worker that still believes the old mode is alive after this. */
const leaseMs = 40_000;

await command(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: 'boolean' },
      override: { type: 'boolean' },
      'controllers-off': { type: 'boolean' },
      'quiet-for': { type: 'string' },
      namespace: { type: 'string', default: 'default' },
      reason: { type: 'string', default: '' },
      clusters: { type: 'string', default: 'clusters.yaml' },
      outputs: { type: 'string', default: 'cdk.out/outputs.json' },
    },
  });
  const [verb = '', chosen, third] = positionals;
  const hub = connectHub(process.env);
  if (verb === 'list') return list(hub);
  if (verb === 'audit') return audit(hub, await chosenClusters(hub.table, chosen, values.all ?? chosen === undefined));
  if (verb === 'opt-in') return switchServicesThatOptIn(hub, { id: chosen, optIn: third, reason: values.reason, wake: wakeServices });
  const mode = modeOf[verb];
  if (!mode && verb !== 'register' && verb !== 'rebuild') {
    throw new UsageError(
      `npm run cluster -- list | audit [CLUSTER] | pause | shadow | active | register | rebuild CLUSTER|--all | opt-in CLUSTER off|shadow|active; ${JSON.stringify(verb)} was given`,
    );
  }
  // On which hub: a kill switch that hits another one is none.
  console.error(`${verb} on ${hub.name}`);
  const who = userInfo().username;
  if (verb === 'register') return register(hub, { files: values, chosen, all: values.all ?? false, who, say });
  if (!mode) return rebuild({ table: hub.table, now: hub.now, wait: sleep, say, who }, await chosenClusters(hub.table, chosen, values.all ?? false));
  const clusters = await switchable(hub, await chosenClusters(hub.table, chosen, values.all ?? false), mode, values.all ?? false);
  const quietMs = values['quiet-for'] === undefined ? defaultQuietMs : seconds(values['quiet-for']);
  if (mode === 'active' && !values.override) {
    for (const meta of clusters) await checkReady(hub, meta, quietMs, values.namespace, values['controllers-off'] ?? false);
  }
  await switchTo(hub, clusters, mode, `${verb}${values.override ? ' with --override' : ''}${values.reason && `: ${values.reason}`}`);
});

/** Those that can be in that mode. One alone that can't is an error; among all they are passed over. */
async function switchable(hub: Hub, ids: readonly string[], mode: ChosenMode, all: boolean): Promise<readonly ClusterRecord[]> {
  const metas = await Promise.all(ids.map(async (id) => (await readCluster(hub.table, id)) as ClusterRecord));
  return metas.filter((meta) => {
    const why = reasonNotSwitchable(meta, mode);
    if (why && !all) throw new UsageError(`${meta.id} ${why}`);
    if (why && !isDeregistered(meta)) say(`${meta.id}  passed over: ${why}`);
    return !why;
  });
}

/** Why the cluster can never be in that mode. */
function reasonNotSwitchable(meta: ClusterRecord, mode: ChosenMode): string | undefined {
  if (isDeregistered(meta)) return 'has left and is not written to: put it into clusters.yaml again and deploy to have it back';
  if (mode === 'active' && meta.api?.auth.type === 'eks')
    return "can't be active: EKS's own endpoint controllers can't be switched off, and two writers fight";
  return undefined;
}

async function checkReady(hub: Hub, meta: ClusterRecord, quietMs: number, namespace: string, controllersDeclaredOff: boolean): Promise<void> {
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

/** Every record first, then the waking: a switch holds from the next run of each service on, and what can't be woken from here sweep wakes. */
async function switchTo(hub: Hub, clusters: readonly ClusterRecord[], mode: ChosenMode, what: string): Promise<void> {
  const now = hub.now();
  const [at, who] = [new Date(now).toISOString(), userInfo().username];
  const failed: string[] = [];
  const switched = await concurrently(16, clusters, async (meta) => {
    try {
      if (!(await switchMode(hub.table, meta.id, mode, now))) throw new Error('it has left meanwhile');
      await recordAudit(hub.table, meta.id, { at, who, what: `${meta.mode} → ${mode} (${what})` });
      return meta;
    } catch (error) {
      failed.push(`${meta.id}: ${String(error)}`);
      return undefined;
    }
  });
  for (const meta of switched) {
    if (!meta) continue;
    // A pause wakes nothing: there is nothing to do, and the switch back wakes all.
    say(`${meta.id}  ${meta.mode} → ${mode}${mode === 'paused' ? '' : `, ${await wakeServices(hub, meta.id)}`}`);
    if (meta.mode === 'active' && mode !== 'active')
      say(
        `${meta.id}  a worker may still write until ${new Date(now + leaseMs).toISOString()}: let kube-controller-manager's controllers return after that`,
      );
  }
  if (failed.length > 0) throw new Error(`not switched: ${failed.join('; ')}`);
}

async function wakeServices(hub: Hub, id: string): Promise<string> {
  try {
    const meta = (await readCluster(hub.table, id)) as ClusterRecord;
    await hub.directory.know(id);
    const log = jsonLog(() => {}, Date.now, {});
    return `${await addAll({ table: hub.table, queues: hub.directory.queues, now: Date.now, log }, meta)} services woken`;
  } catch (error) {
    return `services are woken by sweep within a minute (not from here: ${String(error)})`;
  }
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

async function list(hub: Hub): Promise<void> {
  const rows = [['cluster', 'mode', 'relay', 'first lists', 'circuit', 'differences']];
  const left: string[] = [];
  for (const id of await chosenClusters(hub.table, undefined, true)) {
    const meta = await readCluster(hub.table, id);
    if (!meta) continue;
    const since = new Date(meta.modeSwitch.atMs).toISOString();
    if (meta.mode === 'draining') left.push(`${id}  draining: not written to since ${since}, its endpoints stay as they are`);
    if (meta.mode === 'removed') left.push(`${id}  removed ${since}: nothing is kept of it but its audit records`);
    if (isDeregistered(meta)) continue;
    const differences = await countDifferences(hub.table, id);
    const heard = meta.relay.heartbeatAtMs > 0 ? `${Math.round((Date.now() - meta.relay.heartbeatAtMs) / 1000)} s ago` : 'never';
    rows.push([
      id,
      meta.mode,
      heard,
      hasSynced(meta) ? 'applied' : 'waiting',
      blockedBy(meta) ? `open: ${blockedBy(meta)}` : 'closed',
      isShadow(meta) ? String(differences) : '-',
    ]);
  }
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((r) => r[column]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]): string => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ');
  for (const text of [...rows.map(line), ...left]) say(text.trimEnd());
}

async function audit(hub: Hub, clusters: readonly string[]): Promise<void> {
  for (const id of clusters) for (const { at, who, what } of await listAudit(hub.table, id)) say(`${at}  ${id}  ${who}  ${what}`);
}

function seconds(text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`--quiet-for ${text}: a number of seconds is needed`);
  return Number(text) * 1000;
}
