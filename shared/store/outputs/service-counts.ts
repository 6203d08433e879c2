/**
 * Counts that sync keeps for a service: values of upstream's gauges (ME-3..5, ME-9), other managers' writes
 * to its objects, and its topology hints (TA-8). Each service has a small record, and each cluster a
 * partition. Sweep sums up the gauges, because functions do not share memory. Ingest reads the hints when
 * nodes change.
 */
import type { HintsRecord } from '#shared/controllers/slices/plan.ts';
import { countsKey, countsOf, nameOfPair, type ServiceKey } from '../keys.ts';
import { inPages } from '../pages.ts';
import type { Table } from '../table.ts';

/** Counts of both address types together. Upstream counts only the type that it reconciled last (ME-10). */
export interface GaugeRecord {
  readonly endpointsDesired: number;
  readonly slicesActual: number;
  readonly slicesDesired: number;
  /** "" if none applies. */
  readonly trafficDistribution: string;
}

/** Writes of another manager to the service's Endpoints or slices that the hub writes. */
export interface ForeignWrites {
  /** Number of writes since `sinceMs`, ms since the epoch. */
  readonly writes: number;
  readonly sinceMs: number;
  /** Number of stops in a row because of these writes. */
  readonly stops: number;
  /** End of the last stop, ms since the epoch. */
  readonly untilMs: number;
  /** The manager of the last write. */
  readonly manager: string;
}

export interface ServiceCounts {
  /** Undefined if the service is deleted, or if the slices controller has not reconciled it yet. */
  readonly gauges: GaugeRecord | undefined;
  readonly foreign: ForeignWrites | undefined;
  readonly hints: HintsRecord | undefined;
}

export async function readCounts(table: Table, s: ServiceKey): Promise<ServiceCounts> {
  const {
    c: gauges,
    w: foreign,
    h: hints,
  } = ((await table.get(countsKey(s))) ?? {}) as { readonly [attribute: string]: string };
  return {
    gauges: gauges && decode(gauges),
    foreign: foreign && JSON.parse(foreign),
    hints: hints && JSON.parse(hints),
  } as ServiceCounts;
}

/** Writes only changed counts. Deletes the record if all counts are absent. */
export async function saveCounts(
  table: Table,
  s: ServiceKey,
  counts: ServiceCounts,
  saved: ServiceCounts,
): Promise<void> {
  const key = countsKey(s);
  const [next, before] = [attributesOf(counts), attributesOf(saved)];
  if (JSON.stringify(next) === JSON.stringify(before)) return;
  if (Object.keys(next).length === 0) await table.delete(key);
  else await table.put({ ...key, ...next });
}

const attributesOf = ({ gauges, foreign, hints }: ServiceCounts) => ({
  ...(gauges && { c: encode(gauges) }),
  ...(foreign && { w: JSON.stringify(foreign) }),
  ...(hints && { h: JSON.stringify(hints) }),
});

export interface Totals extends Omit<GaugeRecord, 'trafficDistribution'> {
  /** Number of services by traffic distribution. */
  readonly services: { readonly [trafficDistribution: string]: number };
}

const atOnce = 2_000;

export async function totalGauges(table: Table, cluster: string): Promise<Totals> {
  const totals = { endpointsDesired: 0, slicesActual: 0, slicesDesired: 0 };
  const services: { [value: string]: number } = {};
  for await (const item of inPages(table, countsOf(cluster), atOnce)) {
    if (item['c'] === undefined) continue;
    const {
      endpointsDesired,
      slicesActual,
      slicesDesired,
      trafficDistribution: value,
    } = decode(item['c'] as string);
    totals.endpointsDesired += endpointsDesired;
    totals.slicesActual += slicesActual;
    totals.slicesDesired += slicesDesired;
    if (value !== '') services[value] = (services[value] ?? 0) + 1;
  }
  return { ...totals, services };
}

/** Yields the services with hints. */
export async function* listHints(
  table: Table,
  cluster: string,
): AsyncGenerator<{ readonly namespace: string; readonly name: string; readonly hints: HintsRecord }> {
  for await (const { sk, h } of inPages(table, countsOf(cluster), atOnce))
    if (h !== undefined) yield { ...nameOfPair(sk), hints: JSON.parse(h as string) as HintsRecord };
}

const encode = (c: GaugeRecord): string =>
  `${c.endpointsDesired} ${c.slicesActual} ${c.slicesDesired} ${c.trafficDistribution}`;

function decode(text: string): GaugeRecord {
  const [endpoints = '0', slices = '0', desired = '0', trafficDistribution = ''] = text.split(' ');
  return {
    endpointsDesired: Number(endpoints),
    slicesActual: Number(slices),
    slicesDesired: Number(desired),
    trafficDistribution,
  };
}
