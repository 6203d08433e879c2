/**
 * What upstream's gauges count of each service (ME-3..5, ME-9), kept by sync and added up by sweep: a function has no memory that could
 * hold them. One small record a service, in one partition a cluster, so that adding up reads nothing else.
 */
import { countsKey, countsOf, type ServiceKey } from './keys.ts';
import { inPages } from './pages.ts';
import type { Table } from './table.ts';

/** Both address types together: upstream counts the one that it looked at last (ME-10). */
export interface GaugeRecord {
  readonly endpointsDesired: number;
  readonly slicesActual: number;
  readonly slicesDesired: number;
  /** "": none applies. */
  readonly trafficDistribution: string;
}

export async function readGauges(table: Table, s: ServiceKey): Promise<GaugeRecord | undefined> {
  const item = await table.get(countsKey(s.cluster, s.namespace, s.name));
  return item && decode(item['c'] as string);
}

/** Writes only what is new; undefined: the service is gone. */
export async function saveGauges(table: Table, s: ServiceKey, counts: GaugeRecord | undefined, saved: GaugeRecord | undefined): Promise<void> {
  const key = countsKey(s.cluster, s.namespace, s.name);
  if (counts && encode(counts) !== (saved && encode(saved))) await table.put({ ...key, c: encode(counts) });
  else if (!counts && saved) await table.delete(key);
}

export interface Totals extends Omit<GaugeRecord, 'trafficDistribution'> {
  /** Services by traffic distribution, those that have one. */
  readonly services: { readonly [trafficDistribution: string]: number };
}

const atOnce = 2_000;

export async function totalGauges(table: Table, cluster: string): Promise<Totals> {
  const totals = { endpointsDesired: 0, slicesActual: 0, slicesDesired: 0 };
  const services: { [value: string]: number } = {};
  for await (const item of inPages(table, countsOf(cluster), atOnce)) {
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
