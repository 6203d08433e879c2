/**
 * The outputs of a service: those that sync has written, and proved to be on the API server, and, in shadow mode, those that the cluster's own
 * controllers wrote. Objects are stored deflated: a slice of 100 endpoints takes 1.5 KB instead of 25.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { EndpointSlice, Endpoints, OutputKind } from '#shared/kube/types.ts';
import type { ClusterStore } from './cluster-store.ts';
import { endpointsOutput, oddServicesOf, outputsOf, type ServiceKey, seenOf, sliceOutput } from './keys.ts';
import type { Item, Key, KeyRange, Table } from './table.ts';
import { noVersion, type Version } from './version.ts';

export type OutputObject = Endpoints | EndpointSlice;

export interface OutputName {
  readonly kind: OutputKind;
  readonly name: string;
}

export interface OutputRecord {
  readonly kind: OutputKind;
  readonly name: string;
  readonly uid: string;
  readonly version: Version;
  /** metadata.generation; 0 for Endpoints, which have none. */
  readonly generation: number;
  /** Undefined: gone, by our delete or as seen in a live read. */
  readonly object: OutputObject | undefined;
}

/** Written: by sync, and proved to be on the API server. Observed: by the cluster's own controllers, as the relay saw it (shadow mode). */
export type OutputSource = 'written' | 'observed';

const partition = (source: OutputSource, s: ServiceKey): string => (source === 'written' ? outputsOf : seenOf)(s.cluster, s.namespace, s.name);
const sortKey = (kind: OutputKind, name: string): string => (kind === 'Endpoints' ? endpointsOutput : sliceOutput(name));
const keyOf = (source: OutputSource, s: ServiceKey, { kind, name }: OutputName): Key => ({ pk: partition(source, s), sk: sortKey(kind, name) });

export async function readOutputs(table: Table, service: ServiceKey, source: OutputSource = 'written'): Promise<readonly OutputRecord[]> {
  return (await table.query(partition(source, service))).map(decodeOutput);
}

export async function readOutput(
  table: Table,
  service: ServiceKey,
  name: OutputName,
  source: OutputSource = 'written',
): Promise<OutputRecord | undefined> {
  const item = await table.get(keyOf(source, service, name));
  return item && decodeOutput(item);
}

/** An output without its object, which takes much longer to inflate than to read all the rest. */
export interface OutputHead extends Pick<OutputRecord, 'name' | 'uid' | 'version'> {
  readonly isThere: boolean;
}

/** The service's outputs of the kind; of slices those whose names lie in the range. */
export async function readOutputHeads(
  table: Table,
  service: ServiceKey,
  { kind, range: { from = '', to } }: { readonly kind: OutputKind; readonly range: KeyRange },
  source: OutputSource,
): Promise<readonly OutputHead[]> {
  const found =
    kind === 'Endpoints'
      ? [await table.get(keyOf(source, service, { kind, name: service.name }))]
      : await table.query(partition(source, service), { from: sliceOutput(from), ...(to !== undefined && { to: sliceOutput(to) }) });
  return found.filter((item) => item !== undefined).map((item) => ({ ...headOf(item), isThere: item['b'] !== undefined }));
}

/** Of a slice's name by generateName ("service-" and five characters, 63 at most) this much is the service's. */
export const longestNamePrefix = 58;

/** Lists find slices by their service's name, with which names by generateName begin, ours and upstream's. A person may have named a slice otherwise. */
const isOdd = (service: string, slice: string): boolean => !slice.startsWith(`${service}-`.slice(0, longestNamePrefix));

/** Remembers the service, for good, if lists could not find this slice of it by its name. Each list then reads the service. */
export async function rememberOddName(table: Table, { cluster, namespace, name }: ServiceKey, slice: string): Promise<void> {
  if (isOdd(name, slice)) await table.put({ pk: oddServicesOf(cluster, namespace), sk: name });
}

export async function readOddServices({ table, cluster }: ClusterStore, namespace: string): Promise<readonly string[]> {
  return (await table.query(oddServicesOf(cluster, namespace))).map((item) => item.sk);
}

/** Saves the record if it is newer than what is saved; a record that says "gone" also replaces the version that went. */
export async function saveOutput(table: Table, service: ServiceKey, record: OutputRecord, source: OutputSource = 'written'): Promise<boolean> {
  if (record.kind === 'EndpointSlice' && record.object) await rememberOddName(table, service, record.name);
  const item: Item = {
    ...keyOf(source, service, record),
    v: record.version,
    uid: record.uid,
    name: record.name,
    ...(record.generation > 0 && { g: record.generation }),
    ...(record.object && { b: deflateRawSync(JSON.stringify(record.object)) }),
  };
  return table.put(item, { any: [{ absent: 'v' }, { attribute: 'v', is: record.object ? '<' : '<=', value: record.version }] });
}

export async function forgetOutputs(table: Table, service: ServiceKey, kinds: readonly OutputKind[]): Promise<void> {
  const items = (await table.query(partition('written', service))).filter((item) => kinds.includes(decodeOutput(item).kind));
  await Promise.all(items.map((item) => table.delete({ pk: item.pk, sk: item.sk }, { attribute: 'v', is: '=', value: item['v'] as string })));
}

const headOf = (item: Item): Pick<OutputRecord, 'name' | 'uid' | 'version'> => ({
  name: item['name'] as string,
  uid: (item['uid'] as string | undefined) ?? '',
  version: (item['v'] as Version | undefined) ?? noVersion,
});

function decodeOutput(item: Item): OutputRecord {
  const body = item['b'] as Uint8Array | undefined;
  return {
    ...headOf(item),
    kind: item.sk === endpointsOutput ? 'Endpoints' : 'EndpointSlice',
    generation: (item['g'] as number | undefined) ?? 0,
    object: body && (JSON.parse(inflateRawSync(body).toString()) as OutputObject),
  };
}
