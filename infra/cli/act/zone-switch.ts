/**
 * `cluster zone CLUSTER|--all [ZONE away|back]`: takes the pods of a zone out of the endpoints that the hub
 * writes, for a time, and audits it. Without a zone it lists the zones.
 */
import { userInfo } from 'node:os';
import {
  effectText,
  readZones,
  timeOf,
  type ZonesOfCluster,
  zoneLines,
  zonesIn,
} from '#infra/cli/ask/zones/cluster-zones.ts';
import { chosenClusters, type Hub } from '#infra/cli/hub/connect-hub.ts';
import { listedNames } from '#infra/cli/terminal/counted.ts';
import { linesAsData, type Printing, printLines } from '#infra/cli/terminal/print-answer.ts';
import { say } from '#infra/cli/terminal/printable.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { recordAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { hasRuns, isDeregistered, isShadow } from '#shared/clusters/writer/mode.ts';
import { awayNow, switchZones, type ZoneAway, zonesAway } from '#shared/clusters/zones-away.ts';
import { concurrently } from '#shared/concurrently.ts';
import { zoneIdOf, zoneOf } from '#shared/kube/nodes.ts';

export interface ZoneOptions {
  /** Undefined: all. */
  readonly id: string | undefined;
  /** Name or id of the zone, as typed. */
  readonly zone: string | undefined;
  readonly to: 'away' | 'back' | undefined;
  readonly forMs: number;
  readonly reason: string;
  readonly printing: Printing;
}

const [minMs, maxMs] = [5 * 60_000, 72 * 3_600_000];
/** Characters: each run reads the record. */
const maxReason = 300;

/** `wake` enqueues the cluster's services, and resolves to a text with their number. */
export async function zoneCommand(
  hub: Hub,
  options: ZoneOptions,
  wake: (id: string) => Promise<string>,
): Promise<void> {
  const { id, zone, to, forMs, reason } = options;
  if ((zone === undefined) !== (to === undefined))
    throw new UsageError('a zone and away or back are needed: cluster zone CLUSTER ZONE away');
  if (forMs < minMs || forMs > maxMs)
    throw new UsageError('--for: a time from 5m to 72h is needed; the same command again extends it');
  if (reason.length > maxReason)
    throw new UsageError(`--reason: at most ${maxReason} characters, and these are ${reason.length}`);
  const ids = await chosenClusters(hub.table, id, id === undefined);
  const records = await concurrently(16, ids, (each) => readCluster(hub.table, each));
  const clusters = records.flatMap((record) => (record && !isDeregistered(record) ? [record] : []));
  if (id !== undefined && clusters.length === 0) throw new UsageError(`${id} is deregistered`);
  const read = await concurrently(4, clusters, (cluster) => readZones(hub.table, cluster));
  if (zone === undefined || to === undefined) return print(read, options.printing, hub.now());
  console.error(`zone ${zone} ${to} on ${hub.name}`);
  const chosen = read.flatMap((each) =>
    chosenIn(each, { zone, to, all: id === undefined, nowMs: hub.now() }),
  );
  refuseOtherPlaces(chosen, zone);
  for (const each of chosen) await switchZone(hub, each, options, wake);
}

function print(read: readonly ZonesOfCluster[], printing: Printing, nowMs: number): void {
  const listed = read.map((each) => ({ cluster: each.cluster.id, zones: zonesIn(each, nowMs) }));
  const { format } = printing;
  if (format === 'json' || format === 'yaml') say(...linesAsData(listed, format));
  else printLines(listed.flatMap(zoneLines), printing);
}

interface Chosen extends ZonesOfCluster {
  /** The name. */
  readonly zone: string;
  readonly zoneId: string;
}

interface Asked {
  readonly zone: string;
  readonly to: 'away' | 'back';
  readonly all: boolean;
  readonly nowMs: number;
}

/** Throws a UsageError for a cluster in which the zone cannot be switched, or skips it if `all`. */
function chosenIn(read: ZonesOfCluster, asked: Asked): readonly Chosen[] {
  const { cluster, nodes } = read;
  const node = [...nodes.values()].find((n) => zoneOf(n) === asked.zone || zoneIdOf(n) === asked.zone);
  // A zone that lost its nodes can still be called back.
  const sent = cluster.zones.byOperators.find(({ zone, id }) => zone === asked.zone || id === asked.zone);
  const zone = node ? zoneOf(node) : (sent?.zone ?? '');
  const why = whyNot(read, zone, asked);
  if (why === undefined) return [{ ...read, zone, zoneId: node ? zoneIdOf(node) : (sent?.id ?? '') }];
  if (!asked.all) throw new UsageError(`${cluster.id}: ${why}`);
  say(`${cluster.id}  skipped: ${why}`);
  return [];
}

function whyNot({ cluster, nodes }: ZonesOfCluster, zone: string, asked: Asked): string | undefined {
  if (!hasRuns(cluster)) return `the cluster is ${cluster.mode}: the hub writes nothing there`;
  const zones = new Set([...nodes.values()].map(zoneOf).filter((name) => name !== ''));
  if (zone === '') return `no zone ${asked.zone}: its nodes are in ${listedNames([...zones].sort())}`;
  const away = zonesAway(cluster, asked.nowMs);
  if (asked.to === 'away' && [...zones].every((name) => name === zone || away.has(name)))
    return `${zone} is the last zone of its nodes: traffic has nowhere to go`;
  if (asked.to === 'back' && !cluster.zones.byOperators.some((entry) => entry.zone === zone))
    return `no operator has sent traffic away from ${zone}${byShiftText(cluster, zone, asked.nowMs)}`;
  return undefined;
}

function byShiftText(cluster: ClusterRecord, zone: string, nowMs: number): string {
  const shift = awayNow(cluster, nowMs).find((entry) => entry.zone === zone);
  return shift ? `: it is away by ${shift.by}, so cancel that in ARC` : '';
}

/** In another AWS account the name of a zone may be another place. */
function refuseOtherPlaces(chosen: readonly Chosen[], asked: string): void {
  const ids = [...new Set(chosen.flatMap(({ zoneId }) => (zoneId === '' ? [] : [zoneId])))];
  if (ids.length > 1)
    throw new UsageError(
      `${asked} is a different place in these clusters: give the id, one of ${listedNames(ids.sort())}`,
    );
}

async function switchZone(
  hub: Hub,
  chosen: Chosen,
  { to, forMs, reason }: ZoneOptions,
  wake: (id: string) => Promise<string>,
): Promise<void> {
  const { cluster, zone, zoneId } = chosen;
  const nowMs = hub.now();
  const who = userInfo().username;
  const others = cluster.zones.byOperators.filter((e) => e.zone !== zone && e.untilMs > nowMs);
  const untilMs = nowMs + forMs;
  const sent: ZoneAway = {
    ...{ zone, sinceMs: nowMs, untilMs, by: who },
    ...(zoneId && { id: zoneId }),
    ...(reason && { reason }),
  };
  const next = to === 'away' ? [...others, sent] : others;
  if (to === 'away') say(`${cluster.id}  ${effectText(chosen, new Set(next.map((e) => e.zone)))}`);
  if (!(await switchZones(hub.table, cluster, next, nowMs)))
    throw new UsageError(`${cluster.id} was switched meanwhile: run the command again`);
  const name = zoneId ? `${zone} (${zoneId})` : zone;
  const what = to === 'away' ? `zone ${name} away until ${timeOf(untilMs)}` : `zone ${name} back`;
  const at = new Date(nowMs).toISOString();
  await recordAudit(hub.table, cluster.id, { at, who, what: `${what}${reason && `: ${reason}`}` });
  say(`${cluster.id}  ${what}, ${await wake(cluster.id)}`);
  if (to === 'away') for (const note of ofOthers(cluster)) say(`${cluster.id}  ${note}`);
}

/** The cluster's own controllers write the other Services. */
function ofOthers(cluster: ClusterRecord): readonly string[] {
  if (!isShadow(cluster)) return [];
  const isEks = cluster.api?.auth.type === 'eks';
  return [
    `Services with a selector keep the zone: the cluster's own controllers write them${isEks ? '; aws arc-zonal-shift start-zonal-shift takes it out of those' : ''}`,
  ];
}
