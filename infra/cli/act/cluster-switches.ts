/**
 * `cluster pause | shadow | active`: a switch takes effect with the next run of each service, within seconds,
 * and leaves an audit record. `pause --all` is the kill switch. `active` checks first (preflight.ts);
 * --override skips the checks, and the audit record has it.
 */
import { userInfo } from 'node:os';
import { defaultQuietMs } from '#infra/cli/ask/readiness/preflight.ts';
import { checkReady } from '#infra/cli/ask/readiness/ready-check.ts';
import { chosenClusters, type Hub } from '#infra/cli/hub/connect-hub.ts';
import { wholeSeconds } from '#infra/cli/hub/table-clock.ts';
import { say } from '#infra/cli/terminal/printable.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { recordAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { type ChosenMode, isDeregistered } from '#shared/clusters/writer/mode.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { concurrently } from '#shared/concurrently.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { jsonLog } from '#shared/telemetry/log.ts';
import { addAll } from '#shared/workqueue/add-all.ts';

const modeOf = { pause: 'paused', shadow: 'shadow', active: 'active' } as const satisfies {
  readonly [verb: string]: ChosenMode;
};

export interface SwitchValues {
  readonly all?: boolean;
  readonly reason?: string;
  /** Only for `active`, like the options below. */
  readonly override?: boolean;
  readonly controllersOff?: boolean;
  /** Milliseconds. */
  readonly quietFor?: number;
  readonly namespace?: string;
}

export async function switchClusters(
  hub: Hub,
  verb: keyof typeof modeOf,
  chosen: string | undefined,
  values: SwitchValues,
): Promise<void> {
  const mode = modeOf[verb];
  const {
    all = false,
    override = false,
    controllersOff = false,
    quietFor = defaultQuietMs,
    namespace = 'default',
    reason = '',
  } = values;
  const clusters = await switchable(hub, await chosenClusters(hub.table, chosen, all), mode, all);
  if (mode === 'active' && !override)
    await concurrently(16, clusters, (cluster) =>
      checkReady(hub, cluster, { quietMs: quietFor, namespace, controllersDeclaredOff: controllersOff }),
    );
  await switchTo(
    hub,
    clusters,
    mode,
    `${verb}${override ? ' with --override' : ''}${reason && `: ${reason}`}`,
  );
}

/**
 * Returns the clusters that can be switched to the mode, and skips the others if `all`. Throws a UsageError
 * otherwise.
 */
async function switchable(
  hub: Hub,
  ids: readonly string[],
  mode: ChosenMode,
  all: boolean,
): Promise<readonly ClusterRecord[]> {
  const metas = await Promise.all(ids.map(async (id) => (await readCluster(hub.table, id)) as ClusterRecord));
  return metas.filter((cluster) => {
    const why = reasonNotSwitchable(cluster, mode);
    if (why && !all) throw new UsageError(`${cluster.id} ${why}`);
    if (why && !isDeregistered(cluster)) say(`${cluster.id}  skipped: ${why}`);
    return !why;
  });
}

/** Why the cluster can never be in that mode. */
function reasonNotSwitchable(cluster: ClusterRecord, mode: ChosenMode): string | undefined {
  if (isDeregistered(cluster))
    return 'is deregistered: put it into clusters.yaml and deploy to register it again';
  if (mode === 'active' && cluster.api?.auth.type === 'eks')
    return "can't be active: EKS's own endpoint controllers can't be switched off, and two writers fight";
  return undefined;
}

/**
 * Every record first, then the waking: a switch holds from the next run of each service on, and what can't be
 * woken from here sweep wakes.
 */
async function switchTo(
  hub: Hub,
  clusters: readonly ClusterRecord[],
  mode: ChosenMode,
  what: string,
): Promise<void> {
  const now = hub.now();
  const [at, who] = [new Date(now).toISOString(), userInfo().username];
  const failed: string[] = [];
  const switched = await concurrently(16, clusters, async (cluster) => {
    try {
      if (!(await switchMode(hub.table, cluster.id, mode, now)))
        throw new Error('it was deregistered meanwhile');
      await recordAudit(hub.table, cluster.id, {
        at,
        who,
        what: `${cluster.mode} → ${mode} (${what})`,
        mode: { from: cluster.mode, to: mode },
      });
      return cluster;
    } catch (error) {
      failed.push(`${cluster.id}: ${String(error)}`);
      return undefined;
    }
  });
  await concurrently(8, switched, async (cluster) => {
    if (!cluster) return;
    // Runs end at once in a paused cluster, so only the switch back enqueues its services.
    say(
      `${cluster.id}  ${cluster.mode} → ${mode}${mode === 'paused' ? '' : `, ${await wakeServices(hub, cluster.id)}`}`,
    );
    // No lease of a worker that still believes the old mode is alive after this.
    if (stops(cluster, mode))
      say(
        `${cluster.id}  a worker may still write until ${wholeSeconds(new Date(now + defaultLimits.sync.leaseMs).toISOString())}: ${nextWriter(cluster)}`,
      );
  });
  if (failed.length > 0) throw new Error(`not switched: ${failed.join('; ')}`);
}

/** A pause also ends the writes for Services that opt in, and for the set. */
const stops = (from: ClusterRecord, mode: ChosenMode): boolean =>
  (from.mode === 'active' && mode !== 'active') ||
  (mode === 'paused' && from.mode !== 'paused' && (from.optIn === 'active' || from.isSetMember));

const nextWriter = ({ mode }: ClusterRecord): string =>
  mode === 'active'
    ? "let kube-controller-manager's controllers return after that"
    : 'let another hub write after that';

export async function wakeServices(hub: Hub, id: string): Promise<string> {
  try {
    const cluster = (await readCluster(hub.table, id)) as ClusterRecord;
    await hub.directory.know(id);
    const log = jsonLog(() => {}, hub.now, {});
    const services = await addAll(
      { table: hub.table, queues: hub.directory.queues, now: hub.now, log },
      cluster,
    );
    return services === 1 ? '1 service woken' : `${services} services woken`;
  } catch (error) {
    return `sweep enqueues the services within a minute (not from here: ${String(error)})`;
  }
}
