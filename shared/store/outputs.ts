/**
 * The outputs of a service: those that sync has written, and proved to be on the API server, and, in shadow mode, those that the cluster's own
 * controllers wrote. Objects are stored deflated: a slice of 100 endpoints takes 1.5 KB instead of 25. What a run changes of them is saved beside them
 * as long as that costs less (amendments.ts).
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { concurrently } from '#shared/concurrently.ts';
import type { EndpointSlice, Endpoints, OutputKind } from '#shared/kube/types.ts';
import {
  type Amendment,
  amended,
  amendmentsItem,
  amendmentTo,
  asRead,
  type Body,
  decodeAmendments,
  inForce,
  pays,
  type StoredAs,
} from './amendments.ts';
import type { ClusterStore } from './cluster-store.ts';
import { itemSize } from './item-size.ts';
import { amendmentsOutput, endpointsOutput, escaped, oddServicesOf, outputsOf, type ServiceKey, seenOf, sliceOutput, unescaped } from './keys.ts';
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
  /** What was saved last is lost, and `object` is older: a run reads it from the API server (amendments.ts). */
  readonly isUnreadable?: true;
}

/** What is saved of a service, and how: so that a run writes only what it changes. */
export interface SavedOutputs {
  readonly outputs: readonly OutputRecord[];
  readonly as: StoredAs;
}

export const noneSaved: SavedOutputs = { outputs: [], as: { bodies: new Map(), amendments: undefined } };

/** Written: by sync, and proved to be on the API server. Observed: by the cluster's own controllers, as the relay saw it (shadow mode). */
export type OutputSource = 'written' | 'observed';

const partition = (source: OutputSource, s: ServiceKey): string => (source === 'written' ? outputsOf : seenOf)(s.cluster, s.namespace, s.name);
const sortKey = (kind: OutputKind, name: string): string => (kind === 'Endpoints' ? endpointsOutput : sliceOutput(name));
const keyOf = (source: OutputSource, s: ServiceKey, { kind, name }: OutputName): Key => ({ pk: partition(source, s), sk: sortKey(kind, name) });

export async function readOutputs(table: Table, service: ServiceKey, source: OutputSource = 'written'): Promise<readonly OutputRecord[]> {
  return (await readSaved(table, service, source)).outputs;
}

export async function readSaved(table: Table, service: ServiceKey, source: OutputSource = 'written'): Promise<SavedOutputs> {
  const items = await table.query(partition(source, service));
  const amendments = decodeAmendments(items.find((i) => i.sk === amendmentsOutput));
  const stored = items.filter((i) => i.sk !== amendmentsOutput);
  const bodies = new Map(stored.map((i) => [i.sk, bodyOf(i)]));
  return { outputs: stored.map((i) => decodeOutput(i, bodies.get(i.sk) as Body, amendments?.of.get(i.sk))), as: { bodies, amendments } };
}

/** `seen`: a version that is to be compared with. Where an amendment is as new, the body is not read. */
export async function readOutput(
  table: Table,
  service: ServiceKey,
  name: OutputName,
  source: OutputSource = 'written',
  seen?: Version,
): Promise<OutputRecord | undefined> {
  const key = keyOf(source, service, name);
  const amendments = source === 'written' ? decodeAmendments(await table.get({ pk: key.pk, sk: amendmentsOutput })) : undefined;
  const amendment = amendments?.of.get(key.sk);
  if (seen !== undefined && amendment && amendment.version >= seen) {
    const { version, generation } = amendment;
    return { ...name, uid: '', version, generation, object: undefined };
  }
  const item = await table.get(key);
  return item && decodeOutput(item, bodyOf(item), amendment);
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
  if (isOdd(name, slice)) await table.put({ pk: oddServicesOf(cluster, namespace), sk: escaped(name) });
}

export async function readOddServices({ table, cluster }: ClusterStore, namespace: string): Promise<readonly string[]> {
  return (await table.query(oddServicesOf(cluster, namespace), { keysOnly: true })).map((item) => unescaped(item.sk));
}

/**
 * Saves the record if it is newer than what is saved; a record that says "gone" also replaces the version that went. `again`: the same version counts as
 * newer too.
 */
export async function saveOutput(
  table: Table,
  service: ServiceKey,
  record: OutputRecord,
  { source = 'written', again = false }: { readonly source?: OutputSource; readonly again?: boolean } = {},
): Promise<boolean> {
  return putOutput(table, service, record, itemOf(source, service, record), again);
}

async function putOutput(table: Table, service: ServiceKey, record: OutputRecord, item: Item, again = false): Promise<boolean> {
  if (record.kind === 'EndpointSlice' && record.object) await rememberOddName(table, service, record.name);
  const isNewer = { attribute: 'v', is: again || !record.object ? '<=' : '<', value: record.version } as const;
  return table.put(item, { any: [{ absent: 'v' }, isNewer] });
}

const itemOf = (source: OutputSource, service: ServiceKey, record: OutputRecord): Item => ({
  ...keyOf(source, service, record),
  v: record.version,
  uid: record.uid,
  name: record.name,
  ...(record.generation > 0 && { g: record.generation }),
  ...(record.object && { b: deflateRawSync(JSON.stringify(record.object)) }),
});

/**
 * Saves what has changed: as amendments to the bodies that are saved while that costs less, and else whole. How it is stored then; undefined if another
 * worker has saved something since it was read, or something newer.
 */
export async function saveOutputs(
  table: Table,
  service: ServiceKey,
  { outputs, as }: SavedOutputs,
  changed: readonly OutputRecord[],
  unitBytes: number,
): Promise<StoredAs | undefined> {
  const skOf = (o: OutputName): string => sortKey(o.kind, o.name);
  const isChanged = new Set(changed.map(skOf));
  const kept = inForce(as).filter(([sk]) => !isChanged.has(sk));
  const amendments = new Map<string, Amendment>();
  for (const record of changed) {
    const amendment = amendmentOf(record, as.bodies.get(skOf(record)));
    if (amendment) amendments.set(skOf(record), amendment);
  }
  const bodies = new Map(as.bodies);
  const saveWhole = async (records: readonly OutputRecord[]): Promise<boolean> => {
    const saved = await concurrently(8, records, async (record) => {
      const item = itemOf('written', service, record);
      const { version, uid, object } = record;
      bodies.set(item.sk, { version, uid, text: object && JSON.stringify(object), bytes: itemSize(item) });
      return putOutput(table, service, record, item);
    });
    return saved.every((isSaved) => isSaved);
  };
  if (amendments.size > 0) {
    const key = { pk: partition('written', service), sk: amendmentsOutput };
    const { item, next, units } = amendmentsItem(key, as, new Map([...kept, ...amendments]), unitBytes);
    const sizes = [...next.of.keys()].map((sk) => as.bodies.get(sk)?.bytes ?? 0);
    if (!pays(next, units, sizes, unitBytes)) {
      const readable = outputs.filter((o) => !o.isUnreadable && kept.some(([sk]) => sk === skOf(o)));
      return (await saveWhole([...changed, ...readable])) ? { bodies, amendments: as.amendments } : undefined;
    }
    const [isAmended, isWhole] = await Promise.all([
      table.put(item, asRead(as)),
      saveWhole(changed.filter((record) => !amendments.has(skOf(record)))),
    ]);
    if (isAmended) return isWhole ? { bodies, amendments: next } : undefined;
    await saveWhole(changed);
    return undefined;
  }
  return (await saveWhole(changed)) ? { bodies, amendments: as.amendments } : undefined;
}

function amendmentOf({ object, uid, version, generation }: OutputRecord, body: Body | undefined): Amendment | undefined {
  if (!object || !body || body.uid !== uid || body.text === undefined || version <= body.version) return undefined;
  return amendmentTo({ ...body, text: body.text }, version, generation, JSON.stringify(object));
}

export async function forgetOutputs(table: Table, service: ServiceKey, kinds: readonly OutputKind[]): Promise<void> {
  const items = await table.query(partition('written', service));
  const amendments = items.find((item) => item.sk === amendmentsOutput);
  const outputs = items.filter((item) => item !== amendments);
  const forgotten = outputs.filter((item) => kinds.includes(kindOf(item)));
  if (amendments && forgotten.length === outputs.length) forgotten.push(amendments);
  await Promise.all(forgotten.map((item) => table.delete({ pk: item.pk, sk: item.sk }, { attribute: 'v', is: '=', value: item['v'] as string })));
}

const headOf = (item: Item): Pick<OutputRecord, 'name' | 'uid' | 'version'> => ({
  name: item['name'] as string,
  uid: (item['uid'] as string | undefined) ?? '',
  version: (item['v'] as Version | undefined) ?? noVersion,
});

const kindOf = (item: Item): OutputKind => (item.sk === endpointsOutput ? 'Endpoints' : 'EndpointSlice');

function bodyOf(item: Item): Body {
  const { uid, version } = headOf(item);
  const body = item['b'] as Uint8Array | undefined;
  return { uid, version, text: body && inflateRawSync(body).toString(), bytes: itemSize(item) };
}

function decodeOutput(item: Item, body: Body, amendment: Amendment | undefined): OutputRecord {
  const { version, generation, text, ...more } = amended(body, amendment) ?? {
    version: body.version,
    generation: (item['g'] as number | undefined) ?? 0,
    text: body.text,
  };
  const object = text === undefined ? undefined : (JSON.parse(text) as OutputObject);
  return { ...headOf(item), kind: kindOf(item), version, generation, object, ...more };
}
