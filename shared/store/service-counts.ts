/**
 * Numbers of one service that sync counts: values of upstream's gauges (ME-3..5, ME-9), and writes of other managers to its objects. One small record
 * a service, in one partition a cluster. Sweep adds up the gauges, since a function has no memory of its own for them.
 */
import { countsKey, countsOf, type ServiceKey } from './keys.ts';
import { inPages } from './pages.ts';
import type { Table } from './table.ts';

/** Counts both address types together. Upstream counts the last one it reconciled (ME-10). */
export interface GaugeRecord {
  readonly endpointsDesired: number;
  readonly slicesActual: number;
  readonly slicesDesired: number;
  /** "": none applies. */
  readonly trafficDistribution: string;
}

/** Writes of another manager to Endpoints or slices of the service that the hub writes. */
export interface ForeignWrites {
  /** Number since `sinceMs`, ms since the epoch. */
  readonly writes: number;
  readonly sinceMs: number;
  /** How often in a row the service was not written for a time because of them. */
  readonly stops: number;
  /** End of the last stop, ms since the epoch. */
  readonly untilMs: number;
  /** The last one. */
  readonly manager: string;
}

export interface ServiceCounts {
  /** Undefined if the service is gone, or the slices controller has not had it yet. */
  readonly gauges: GaugeRecord | undefined;
  readonly foreign: ForeignWrites | undefined;
}

export const noCounts: ServiceCounts = { gauges: undefined, foreign: undefined };

export async function readCounts(table: Table, s: ServiceKey): Promise<ServiceCounts> {
  const item = await table.get(countsKey(s.cluster, s.namespace, s.name));
  const [gauges, foreign] = [item?.['c'] as string | undefined, item?.['w'] as string | undefined];
  return { gauges: gauges === undefined ? undefined : decode(gauges), foreign: foreign === undefined ? undefined : JSON.parse(foreign) };
}

/** Writes only what is new. Without any numbers the record is deleted. */
export async function saveCounts(table: Table, s: ServiceKey, counts: ServiceCounts, saved: ServiceCounts): Promise<void> {
  const key = countsKey(s.cluster, s.namespace, s.name);
  const [next, before] = [attributesOf(counts), attributesOf(saved)];
  if (JSON.stringify(next) === JSON.stringify(before)) return;
  if (Object.keys(next).length === 0) await table.delete(key);
  else await table.put({ ...key, ...next });
}

const attributesOf = ({ gauges, foreign }: ServiceCounts) => ({
  ...(gauges && { c: encode(gauges) }),
  ...(foreign && { w: JSON.stringify(foreign) }),
});

export interface Totals extends Omit<GaugeRecord, 'trafficDistribution'> {
  /** Number of services by traffic distribution, without services that have none. */
  readonly services: { readonly [trafficDistribution: string]: number };
}

const atOnce = 2_000;

export async function totalGauges(table: Table, cluster: string): Promise<Totals> {
  const totals = { endpointsDesired: 0, slicesActual: 0, slicesDesired: 0 };
  const services: { [value: string]: number } = {};
  for await (const item of inPages(table, countsOf(cluster), atOnce)) {
    if (item['c'] === undefined) continue;
    const { endpointsDesired, slicesActual, slicesDesired, trafficDistribution: value } = decode(item['c'] as string);
    totals.endpointsDesired += endpointsDesired;
    totals.slicesActual += slicesActual;
    totals.slicesDesired += slicesDesired;
    if (value !== '') services[value] = (services[value] ?? 0) + 1;
  }
  return { ...totals, services };
}

const encode = (c: GaugeRecord): string => `${c.endpointsDesired} ${c.slicesActual} ${c.slicesDesired} ${c.trafficDistribution}`;

function decode(text: string): GaugeRecord {
  const [endpoints = '0', slices = '0', desired = '0', trafficDistribution = ''] = text.split(' ');
  return { endpointsDesired: Number(endpoints), slicesActual: Number(slices), slicesDesired: Number(desired), trafficDistribution };
}
