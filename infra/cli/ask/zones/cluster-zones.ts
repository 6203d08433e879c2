/**
 * `cluster zone`: the zones of a cluster, and what the Services that the hub writes there keep while traffic
 * is away from one.
 */

import type { Count, Time } from '#infra/cli/ask/answer/data-types.ts';
import { readNodes } from '#infra/cli/ask/explain-input.ts';
import { readServices } from '#infra/cli/ask/lists/list-services.ts';
import { wholeSeconds } from '#infra/cli/hub/table-clock.ts';
import { counted, listedNames } from '#infra/cli/terminal/counted.ts';
import { columns } from '#infra/cli/terminal/print-answer.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { writersFor } from '#shared/clusters/writer/writer-for.ts';
import { awayNow } from '#shared/clusters/zones-away.ts';
import { concurrently } from '#shared/concurrently.ts';
import { withOptInSelectorFor } from '#shared/controllers/opt-in/writer.ts';
import { podsAway } from '#shared/controllers/zones/pods-away.ts';
import { zoneIdOf, zoneOf } from '#shared/kube/nodes.ts';
import { isServing } from '#shared/kube/pods.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { Node, Pod, Service } from '#shared/kube/types.ts';
import { objectsIn } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';

/** An unknown value is null. */
export interface ListedZone {
  readonly zone: string;
  /** The id that AWS gives the zone in every account. */
  readonly id: string | null;
  readonly nodes: Count;
  /** Of Services that the hub writes. */
  readonly readyPods: Count;
  /** Traffic is away from the zone. */
  readonly away: { readonly until: Time; readonly by: string; readonly reason: string } | null;
}

export interface ClusterZones {
  readonly cluster: string;
  readonly zones: readonly ListedZone[];
}

export type ClusterZonesList = readonly ClusterZones[];

/** What a switch of zones is about to move in a cluster. */
export interface ZonesOfCluster {
  readonly cluster: ClusterRecord;
  readonly nodes: ReadonlyMap<string, Node>;
  /** Services whose endpoints the hub writes, with their pods. */
  readonly written: readonly { readonly service: Service; readonly pods: readonly Pod[] }[];
}

export async function readZones(table: Table, cluster: ClusterRecord): Promise<ZonesOfCluster> {
  const [nodes, stored] = await Promise.all([readNodes(table, cluster.id), readServices(table, cluster.id)]);
  const services = stored.flatMap((service) => {
    const { endpoints, slices } = writersFor(service, cluster);
    const isWritten = endpoints.task === 'write' || slices.task === 'write';
    return isWritten ? [withOptInSelectorFor(service, cluster)] : [];
  });
  const byNamespace = [...Map.groupBy(services, ({ metadata }) => metadata.namespace ?? '')];
  const written = await concurrently(8, byNamespace, async ([namespace, own]) => {
    const pods = await objectsIn({ table, cluster: cluster.id }, 'Pod', namespace);
    return own.map((service) => ({
      service,
      pods: pods.filter(({ metadata }) => selectorMatches(service.spec?.selector ?? {}, metadata.labels)),
    }));
  });
  return { cluster, nodes, written: written.flat() };
}

export function zonesIn({ cluster, nodes, written }: ZonesOfCluster, nowMs: number): readonly ListedZone[] {
  const away = awayNow(cluster, nowMs);
  const byZone = Map.groupBy([...nodes.values()], zoneOf);
  const ready = new Map(
    written.flatMap(({ pods }) => pods.filter(isServing).map((pod) => [pod.metadata.uid, pod] as const)),
  );
  return [...byZone]
    .filter(([zone]) => zone !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([zone, own]) => {
      const sent = away.find((entry) => entry.zone === zone);
      const names = new Set(own.map(({ metadata }) => metadata.name));
      return {
        zone,
        id: own.map(zoneIdOf).find((id) => id !== '') ?? null,
        nodes: own.length,
        readyPods: [...ready.values()].filter(({ spec }) => names.has(spec?.nodeName ?? '')).length,
        away: sent ? { until: timeOf(sent.untilMs), by: sent.by, reason: sent.reason ?? '' } : null,
      };
    });
}

export const timeOf = (ms: number): string => wholeSeconds(new Date(ms).toISOString());

export function zoneLines({ cluster, zones }: ClusterZones): readonly string[] {
  if (zones.length === 0) return [`${cluster}  its nodes have no zones`];
  const rows = zones.map(({ zone, id, nodes, readyPods, away }) => [
    zone,
    id ?? '-',
    String(nodes),
    String(readyPods),
    away ? `away until ${away.until} by ${away.by}${away.reason && `: ${away.reason}`}` : '-',
  ]);
  const header = ['zone', 'id', 'nodes', 'ready pods', 'traffic'];
  return [cluster, ...columns([header, ...rows]).map((line) => `  ${line}`)];
}

/** Says what leaves if these zones are away, before anything is switched. */
export function effectText({ nodes, written }: ZonesOfCluster, zones: ReadonlySet<string>): string {
  const effects = written.map(({ service, pods }) => {
    const { pods: out, isHeld } = podsAway(service, { pods, nodes, zonesAway: zones });
    const ready = pods.filter(isServing);
    const left = ready.filter((pod) => !out.has(pod.metadata.name)).length;
    const name = `${service.metadata.namespace}/${service.metadata.name}`;
    return { name, ready: ready.length, left, isHeld };
  });
  const leaving = effects.reduce((sum, { ready, left }) => sum + ready - left, 0);
  const all = effects.reduce((sum, { ready }) => sum + ready, 0);
  const losing = effects.filter(({ ready, left }) => left < ready);
  const few = effects.filter(({ ready, left }) => left * 2 < ready);
  const held = effects.filter(({ isHeld }) => isHeld).map(({ name }) => name);
  const fewNames = few.map(({ name, left, ready }) => `${name} ${left} of ${ready}`);
  return [
    `${leaving} of ${counted(all, 'ready endpoint')} leave, of ${counted(losing.length, 'Service')}`,
    ...(few.length > 0 ? [`less than half is left of ${few.length}: ${listedNames(fewNames)}`] : []),
    ...(held.length > 0
      ? [
          `nothing leaves ${held.length}, because no ready pod elsewhere serves all that it serves: ${listedNames(held)}`,
        ]
      : []),
  ].join('; ');
}
