/**
 * `cluster list` and `cluster audit`: for people, and as JSON for programs. The list's schema is generated
 * from its type (infra/package/answer-schemas.ts).
 */

import { isSilent, notKnown } from '#infra/cli/ask/explain/cluster-known.ts';
import { unsupportedVersion } from '#infra/cli/ask/explain/version-support.ts';
import { chosenClusters, type Hub } from '#infra/cli/hub/connect-hub.ts';
import { wholeSeconds } from '#infra/cli/hub/table-clock.ts';
import { counted } from '#infra/cli/terminal/counted.ts';
import {
  columns,
  type Line,
  linesAsData,
  type Printing,
  printLines,
  printNews,
} from '#infra/cli/terminal/print-answer.ts';
import { say } from '#infra/cli/terminal/printable.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { isDeregistered, isShadow } from '#shared/clusters/writer/mode.ts';
import { servicesWithoutWriter } from '#shared/clusters/writer/services-without-writer.ts';
import { blockedBy } from '#shared/clusters/writer/writer-conflict.ts';
import { awayNow } from '#shared/clusters/zones-away.ts';
import { concurrently } from '#shared/concurrently.ts';
import { countDifferences } from '#shared/store/outputs/shadow-record.ts';
import type { Count, Time } from '../answer/data-types.ts';
import { offsetOf, waitOf } from '../explain/relay-timing.ts';
import { askParts } from '../wing.ts';
import { timeOf } from '../zones/cluster-zones.ts';
import { countedFleet, type ReachCount, reachCounts } from './reach-counts.ts';

/** An unknown or meaningless value is null. */
export interface ListedCluster {
  readonly id: string;
  readonly mode: string;
  readonly modeSince: Time;
  readonly kubernetesVersion: string | null;
  readonly optIn: string;
  readonly clusterset: { readonly name: string; readonly imports: string; readonly exports: string } | null;
  readonly relayHeartbeatAt: Time | null;
  /** How long the last heartbeat waited in the events queue. */
  readonly queueLagSeconds: Count | null;
  /** How far the clock of the relay’s node is ahead of AWS’s; negative: behind. */
  readonly relayClockAheadSeconds: WholeNumber | null;
  readonly firstListsApplied: boolean;
  /** Why the hub does not know the cluster as it is now: a silent relay, or missing first lists. */
  readonly notKnown: string | null;
  readonly circuitOpen: string | null;
  readonly credentialsEnd: Time | null;
  readonly differences: Count | null;
  readonly servicesWithoutWriter: Count | null;
  /** Zones that traffic is to leave. */
  readonly zonesAway: readonly { readonly zone: string; readonly until: Time; readonly by: string }[];
  /** Services that cannot be reached, counted at most once a minute. Null in a fleet of more than 20 clusters. */
  readonly unreachable: Count | null;
  /** How long the oldest pending work is overdue; 0 without any. */
  readonly overdueSeconds: Count | null;
}

/** @asType integer */
type WholeNumber = number;

export type ClusterList = readonly ListedCluster[];

/** `count` keeps counts for a minute. */
export async function describeClusters(
  hub: Pick<Hub, 'table' | 'now'>,
  count = reachCounts(countedFleet),
): Promise<ClusterList> {
  const metas = (
    await concurrently(16, await chosenClusters(hub.table, undefined, true), (id) =>
      readCluster(hub.table, id),
    )
  ).filter((m) => !!m);
  const ids = metas.filter((cluster) => !isDeregistered(cluster)).map(({ id }) => id);
  const counts = ids.length > countedFleet ? undefined : await count(hub.table, ids, hub.now());
  return concurrently(16, metas, (cluster) => describeCluster(hub, cluster, counts?.get(cluster.id)));
}

/** Each call of the result prints the clusters, unless they are the same as at the last call. */
export function listOfClusters(hub: Hub, printing: Printing): () => Promise<void> {
  const print = printNews(printing);
  const count = reachCounts(countedFleet);
  return async () => {
    const nowMs = hub.now();
    const listed = await describeClusters(hub, count);
    // A heartbeat alone does not count as a change, but the first one does, and silence.
    const known = listed.map((cluster) => withoutTimes(cluster, nowMs));
    print(known, nowMs, () => listLines(listed, printing.format, nowMs));
  };
}

/** Seconds change with each heartbeat. */
function withoutTimes(
  {
    relayHeartbeatAt,
    queueLagSeconds,
    relayClockAheadSeconds,
    overdueSeconds,
    notKnown: _,
    ...more
  }: ListedCluster,
  nowMs: number,
): object {
  return {
    ...more,
    relay: relayHeartbeatAt && isSilent(Date.parse(relayHeartbeatAt), nowMs),
    isLate: waitOf({ queueLagSeconds: queueLagSeconds ?? 0 }) !== undefined,
    isOverdue: (overdueSeconds ?? 0) > overdueNoteSeconds,
    isOff: offsetOf({ clockAheadSeconds: relayClockAheadSeconds ?? 0 }) !== undefined,
  };
}

function listLines(
  listed: readonly ListedCluster[],
  format: Printing['format'],
  nowMs: number,
): readonly Line[] {
  if (format === 'name') return listed.map(({ id }) => id);
  if (format === 'json' || format === 'yaml') return linesAsData(listed, format);
  // The columns of a clusterset are shown only if a cluster is in one.
  const hasSet = listed.some(({ clusterset }) => clusterset !== null);
  const present = listed.filter(({ mode }) => mode !== 'draining' && mode !== 'removed');
  const rows = [titles(hasSet), ...present.map((cluster) => rowOf(cluster, hasSet, nowMs))];
  const [header = '', ...lines] = columns(rows);
  return [
    { text: header, style: 'title' },
    ...lines.map((text, i) => lineOf(text, present[i] as ListedCluster)),
    ...listed.flatMap((cluster) => leftText(cluster) ?? []),
    ...listed.flatMap((cluster) => notesOf(cluster, nowMs)),
  ];
}

/** Above this WorkOverdue rings. */
const overdueNoteSeconds = 60;

const titles = (hasSet: boolean): readonly string[] => [
  ...['cluster', 'mode', 'opt-in'],
  ...(hasSet ? ['imports', 'exports'] : []),
  ...['relay', 'first lists', 'circuit', 'differences', 'unreachable', 'kubernetes'],
];

function rowOf(cluster: ListedCluster, hasSet: boolean, nowMs: number): readonly string[] {
  const { clusterset, relayHeartbeatAt: beatAt, circuitOpen, differences, unreachable } = cluster;
  return [
    ...[cluster.id, cluster.mode, cluster.optIn],
    ...(hasSet ? [clusterset?.imports ?? '-', clusterset?.exports ?? '-'] : []),
    beatAt === null ? 'never' : `${Math.max(0, Math.round((nowMs - Date.parse(beatAt)) / 1000))} s ago`,
    cluster.firstListsApplied ? 'applied' : 'waiting',
    circuitOpen === null ? 'closed' : `open: ${circuitOpen}`,
    differences === null ? '-' : String(differences),
    unreachable === null ? '-' : String(unreachable),
    cluster.kubernetesVersion ?? '-',
  ];
}

/** Undefined: the cluster has a row. */
function leftText({ id, mode, modeSince }: ListedCluster): string | undefined {
  if (mode === 'draining')
    return `${id}  draining: the hub does not write to it since ${modeSince}, and its endpoints stay as they are`;
  return mode === 'removed' ? `${id}  removed ${modeSince}: only its audit records are kept` : undefined;
}

function notesOf(cluster: ListedCluster, nowMs: number): readonly Line[] {
  const { id, credentialsEnd, servicesWithoutWriter: unwritten } = cluster;
  const unsupported = unsupportedVersion(cluster.kubernetesVersion ?? undefined);
  return [
    ...(unsupported ? [`${id}  ${unsupported}`] : []),
    ...(credentialsEnd === null ? [] : [`${id}  ${endText(credentialsEnd, nowMs)}`]),
    // The table itself shows first lists that are missing.
    ...(cluster.notKnown !== null && cluster.firstListsApplied
      ? [{ text: `${id}  ${cluster.notKnown}`, style: 'bad' } as const]
      : []),
    ...timingNotes(cluster).map((text): Line => ({ text: `${id}  ${text}`, style: 'bad' })),
    ...((cluster.overdueSeconds ?? 0) > overdueNoteSeconds
      ? [{ text: `${id}  work is overdue for ${cluster.overdueSeconds} s`, style: 'bad' } as const]
      : []),
    ...(unwritten ? [unwrittenNote(id, unwritten)] : []),
    ...cluster.zonesAway.map(({ zone, until, by }): Line => {
      return { text: `${id}  zone ${zone} is away until ${until}, by ${by}`, style: 'warning' };
    }),
  ];
}

const unwrittenNote = (id: string, unwritten: number): Line => ({
  text: `${id}  ${counted(unwritten, 'Service')} without a writer, or with slices that follow no pods: fleet-endpoints cluster opt-in ${id} lists ${unwritten === 1 ? 'it' : 'them'}`,
  style: 'bad',
});

function timingNotes({ queueLagSeconds, relayClockAheadSeconds }: ListedCluster): readonly string[] {
  const wait = waitOf({ queueLagSeconds: queueLagSeconds ?? 0 });
  const offset = offsetOf({ clockAheadSeconds: relayClockAheadSeconds ?? 0 });
  return [...(wait ? [`events come late: the last heartbeat ${wait}`] : []), ...(offset ? [offset] : [])];
}

/** A cluster that is not known, not written or has a Service that cannot be reached is bad news. */
function lineOf(text: string, cluster: ListedCluster): Line {
  const { notKnown: doubt, relayHeartbeatAt, circuitOpen, unreachable, mode } = cluster;
  if (doubt !== null || relayHeartbeatAt === null || circuitOpen !== null || unreachable)
    return { text, style: 'bad' };
  return mode === 'paused' ? { text, style: 'warning' } : text;
}

function endText(end: string, nowMs: number): string {
  const days = Math.floor((Date.parse(end) - nowMs) / 86_400_000);
  return days < 0
    ? `the credentials in its secret ended ${end}`
    : `the credentials in its secret end in ${counted(days, 'day')}: ${end}`;
}

async function overdueSeconds({ table, now }: Pick<Hub, 'table' | 'now'>, id: string): Promise<number> {
  const nowMs = now();
  const [oldest] = await table.queryDirty(id, nowMs, 1);
  return oldest ? Math.max(0, Math.floor((nowMs - oldest.dirtyAt) / 1000)) : 0;
}

export async function describeCluster(
  hub: Pick<Hub, 'table' | 'now'>,
  cluster: ClusterRecord,
  count: ReachCount | undefined,
): Promise<ListedCluster> {
  const { heartbeatAtMs } = cluster.relay;
  const isThere = !isDeregistered(cluster);
  const endMs = cluster.readiness.credentialsEndMs;
  const usesSecret = cluster.api?.auth.type === 'secret' && isThere;
  return {
    id: cluster.id,
    mode: cluster.mode,
    modeSince: timeOf(cluster.modeSwitch.atMs),
    kubernetesVersion: cluster.relay.kubernetesVersion ?? null,
    optIn: cluster.withdrawsOptIn ? 'withdrawing' : cluster.optIn,
    clusterset: askParts.flatMap((part) => part.listed(cluster))[0] ?? null,
    relayHeartbeatAt: heartbeatAtMs > 0 ? new Date(heartbeatAtMs).toISOString() : null,
    queueLagSeconds: heartbeatAtMs > 0 ? cluster.relay.queueLagSeconds : null,
    relayClockAheadSeconds: heartbeatAtMs > 0 ? cluster.relay.clockAheadSeconds : null,
    firstListsApplied: hasSynced(cluster),
    notKnown: (isThere && notKnown(cluster, hub.now())) || null,
    circuitOpen: blockedBy(cluster) ?? null,
    credentialsEnd: usesSecret && endMs > 0 ? timeOf(endMs) : null,
    differences: isThere && isShadow(cluster) ? await countDifferences(hub.table, cluster.id) : null,
    servicesWithoutWriter: isThere ? (servicesWithoutWriter(cluster) ?? null) : null,
    zonesAway: awayNow(cluster, hub.now()).map(({ zone, untilMs, by }) => ({
      ...{ zone, by, until: timeOf(untilMs) },
    })),
    unreachable: count?.unreachable ?? null,
    overdueSeconds: isThere ? await overdueSeconds(hub, cluster.id) : null,
  };
}

export async function listOfAudit(hub: Hub, clusters: readonly string[], printing: Printing): Promise<void> {
  const audits = await concurrently(16, clusters, (cluster) => listAudit(hub.table, cluster));
  const entries = clusters.flatMap((cluster, i) =>
    (audits[i] ?? []).map(({ at, who, what }) => ({ cluster, at: wholeSeconds(at), who, what })),
  );
  if (printing.format === 'json' || printing.format === 'yaml')
    return say(...linesAsData(entries, printing.format));
  if (entries.length === 0) say('there are no audit records');
  printLines(columns(entries.map(({ cluster, at, who, what }) => [at, cluster, who, what])), printing);
}
