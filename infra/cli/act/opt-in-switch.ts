/**
 * `cluster opt-in CLUSTER [off|shadow|active]`: the switch for Services that opt in by annotation, audited,
 * in effect within seconds. Without a value it lists these Services. `active` checks first what the writer
 * may do, and `off` whether such a Service is exported; `off --withdraw` has our slices deleted first; `off
 * --abandon` lets a cluster be taken out with them.
 */
import { userInfo } from 'node:os';
import { optInLines } from '#infra/cli/ask/opt-in/opt-in-list.ts';
import { requireRights } from '#infra/cli/ask/readiness/ask-cluster.ts';
import { askParts } from '#infra/cli/ask/wing.ts';
import { chosenClusters, type Hub } from '#infra/cli/hub/connect-hub.ts';
import { listedNames } from '#infra/cli/terminal/counted.ts';
import { say } from '#infra/cli/terminal/printable.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { type AuditRecord, recordAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import { abandonOptIn, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import type { OptIn } from '#shared/controllers/opt-in/writer.ts';
import { withdraw } from './opt-in-withdraw.ts';

export interface OptInOptions {
  readonly id: string | undefined;
  readonly optIn: OptIn | undefined;
  readonly reason?: string;
  /** Skips the checks. */
  readonly override?: boolean;
  readonly withdraw?: boolean;
  /** With `off`: lets the cluster be taken out with the slices as they are. */
  readonly abandon?: boolean;
  /** How long a withdrawal is waited for, ms. */
  readonly waitFor?: number;
}

const defaultWaitMs = 10 * 60_000;

/** `wake` enqueues the cluster's services, and resolves to a text with their number. */
export async function optInCommand(
  hub: Hub,
  options: OptInOptions,
  wake: (id: string) => Promise<string>,
): Promise<void> {
  const { optIn, reason = '', override = false, waitFor = defaultWaitMs } = options;
  if (options.withdraw && optIn !== 'off')
    throw new UsageError('--withdraw goes with off: opt-in CLUSTER off --withdraw');
  if (options.abandon && (optIn !== 'off' || options.withdraw))
    throw new UsageError('--abandon goes with off, and not with --withdraw: opt-in CLUSTER off --abandon');
  const [id = ''] = await chosenClusters(hub.table, options.id);
  const cluster = (await readCluster(hub.table, id)) as ClusterRecord;
  if (optIn === undefined) return say(...(await optInLines(hub.table, cluster)));
  if (isDeregistered(cluster))
    throw new UsageError(`${id} is deregistered: put it into clusters.yaml and deploy to register it again`);
  console.error(`opt-in on ${hub.name}`);
  if (optIn === 'active' && !override)
    await requireRights(hub, cluster, {
      what: 'opt-in',
      toAllow: toApply(id),
      refusal: `stays opt-in ${cluster.optIn}`,
    });
  if (optIn === 'off' && cluster.optIn !== 'off' && !override) await checkExported(hub, cluster);
  const audit = async (what: string, atMs: number, change?: AuditRecord['optIn']): Promise<void> => {
    const at = new Date(atMs).toISOString();
    await recordAudit(hub.table, id, {
      at,
      who: userInfo().username,
      what: `${what}${reason && `: ${reason}`}`,
      ...(change && { optIn: change }),
    });
  };
  const note = (what: string): Promise<void> => audit(what, hub.now());
  if (options.withdraw)
    await withdraw(hub, cluster, { override, waitMs: waitFor, note, wake: () => wake(id) });
  const atMs = hub.now();
  const change = { from: cluster.optIn, to: optIn };
  const flags = `${override ? ' with --override' : ''}${options.abandon ? ' with --abandon' : ''}`;
  await switchTo(hub, cluster, optIn, { atMs, note: (what) => audit(`${what}${flags}`, atMs, change), wake });
  if (options.abandon) await abandon(hub, id);
  if (cluster.optIn === 'active' && optIn !== 'active' && !options.withdraw)
    say(
      `${id}  slices of Services that opt in stay as they are, and no longer follow their pods; opt-in ${id} off --withdraw deletes them`,
    );
}

/** Throws a UsageError if other clusters import a Service that opts in. */
async function checkExported({ table }: Pick<Hub, 'table'>, cluster: ClusterRecord): Promise<void> {
  const exported = await Promise.all(askParts.map((part) => part.exportedOptIns(table, cluster)));
  const names = exported.flat();
  if (names.length === 0) return;
  const they =
    names.length === 1
      ? '1 Service that opts in is exported'
      : `${names.length} Services that opt in are exported`;
  throw new UsageError(
    `${cluster.id} stays opt-in ${cluster.optIn}: ${they}: ${listedNames(names)}. With off these exports are no longer valid: imports stay and follow their pods, but the next export of such a Service is refused. Use --override to switch anyway`,
  );
}

async function switchTo(
  hub: Hub,
  { id, optIn: before, mode }: ClusterRecord,
  optIn: OptIn,
  {
    atMs,
    note,
    wake,
  }: {
    readonly atMs: number;
    readonly note: (what: string) => Promise<void>;
    readonly wake: (id: string) => Promise<string>;
  },
): Promise<void> {
  if (!(await switchOptIn(hub.table, id, optIn, atMs)))
    throw new UsageError(`${id} was deregistered meanwhile`);
  await note(`opt-in ${before} → ${optIn}`);
  say(
    `${id}  opt-in ${before} → ${optIn}${mode === 'paused' ? ' (the cluster is paused)' : `, ${await wake(id)}`}`,
  );
}

async function abandon(hub: Hub, id: string): Promise<void> {
  if (!(await abandonOptIn(hub.table, id)))
    throw new UsageError(`${id} was deregistered or switched meanwhile`);
  say(
    `${id}  its stack may be deleted: slices of Services that opt in stay in the cluster, and list pods that are gone`,
  );
}

const toApply = (id: string): string =>
  `put optIn: active into clusters.yaml and apply relay manifest ${id} (with the chart: writes: optIn, or both where mode is active)`;
