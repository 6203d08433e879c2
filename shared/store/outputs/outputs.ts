/**
 * The saved outputs of a service: written by sync and confirmed by the API server, or, in shadow mode,
 * written by the cluster's own controllers.
 */
import { allToEnd, concurrently } from '#shared/concurrently.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import type { ClusterStore } from '../cluster-store.ts';
import {
  escaped,
  oddServicesOf,
  outputsOf,
  type ServiceKey,
  seenOf,
  sliceOutput,
  unescaped,
} from '../keys.ts';
import { absentOr, type Item, type Key, type KeyRange, type Table, type WriteCondition } from '../table.ts';
import type { Version } from '../version.ts';
import { divide, noDeltas, type OutputDeltas, type OutputsToSave } from './deltas.ts';
import {
  bodyItem,
  decodeOutput,
  headOf,
  isThere,
  kindOfOutputItem,
  maxSavedBytes,
  type OutputName,
  type OutputRecord,
  type SavedBodies,
  type SavedBody,
  savedBodyOf,
  sortKeyOf,
} from './output-items.ts';

export type { OutputName, OutputObject, OutputRecord, SavedBodies, SavedBody } from './output-items.ts';

export interface SavedOutputs {
  readonly outputs: readonly OutputRecord[];
  readonly bodies: SavedBodies;
}

/**
 * `written`: by sync, and confirmed by the API server. `observed`: by the cluster's own controllers, as the
 * relay saw it (shadow mode).
 */
export type OutputSource = 'written' | 'observed';

const partition = (source: OutputSource, s: ServiceKey): string =>
  (source === 'written' ? outputsOf : seenOf)(s);
const keyOf = (source: OutputSource, s: ServiceKey, name: OutputName): Key => ({
  pk: partition(source, s),
  sk: sortKeyOf(name),
});

/** Reads the items of the bodies, for `savedOutputs`. */
export const readBodies = (
  table: Table,
  service: ServiceKey,
  source: OutputSource = 'written',
): Promise<readonly Item[]> => table.query(partition(source, service));

/**
 * `deltas`: of the work item, which was read before the bodies. A body that was saved in between is then newer
 * than its delta.
 */
export function savedOutputs(items: readonly Item[], deltas: OutputDeltas): SavedOutputs {
  const bodies = new Map<string, SavedBody>();
  const outputs = items.map((item) => {
    const body = savedBodyOf(item);
    bodies.set(item.sk, body);
    return decodeOutput(item, body, deltas.get(item.sk));
  });
  return { outputs, bodies };
}

/** Reads what sync wrote. `deltas` as in `savedOutputs`. */
export const readOutputs = async (
  table: Table,
  service: ServiceKey,
  deltas: OutputDeltas,
): Promise<readonly OutputRecord[]> => savedOutputs(await readBodies(table, service), deltas).outputs;

/** Reads what the cluster's own controllers wrote. */
export const readObservedOutputs = async (
  table: Table,
  service: ServiceKey,
): Promise<readonly OutputRecord[]> =>
  savedOutputs(await readBodies(table, service, 'observed'), noDeltas).outputs;

/** `from`: the deltas of what sync wrote. Without them the version may be older than the saved one. */
export async function readOutput(
  table: Table,
  service: ServiceKey,
  name: OutputName,
  from: OutputDeltas | 'observed',
): Promise<OutputRecord | undefined> {
  const [source, deltas] = from === 'observed' ? [from, noDeltas] : (['written', from] as const);
  const item = await table.get(keyOf(source, service, name));
  return item && decodeOutput(item, savedBodyOf(item), deltas.get(item.sk));
}

/**
 * The head of an output's body, without its object, because inflating the object takes much longer than
 * reading the rest.
 */
export interface OutputHead extends Pick<OutputRecord, 'name' | 'uid' | 'version'> {
  readonly isThere: boolean;
}

/** Returns the heads of the service's outputs of the kind. The range restricts the names of slices. */
export async function readOutputHeads(
  table: Table,
  service: ServiceKey,
  { kind, range: { from = '', to } }: { readonly kind: OutputKind; readonly range: KeyRange },
  source: OutputSource,
): Promise<readonly OutputHead[]> {
  const found =
    kind === 'Endpoints'
      ? [await table.get(keyOf(source, service, { kind, name: service.name }))]
      : await table.query(partition(source, service), {
          from: sliceOutput(from),
          ...(to !== undefined && { to: sliceOutput(to) }),
        });
  return found
    .filter((item) => item !== undefined)
    .map((item) => ({ ...headOf(item), isThere: isThere(item) }));
}

/**
 * Maximum length of the service's part in a slice's generated name, which is "service-" and five characters,
 * 63 at most.
 */
export const maxNamePrefixLength = 58;

/**
 * Lists find slices by the service's name, which generated names begin with, ours and upstream's. A slice
 * that a person named may begin differently.
 */
const isOdd = (service: string, slice: string): boolean =>
  !slice.startsWith(`${service}-`.slice(0, maxNamePrefixLength));

/**
 * Remembers the service permanently if lists cannot find its slice by name. Each list then reads the service.
 */
export async function rememberOddName(
  table: Table,
  { cluster, namespace, name }: ServiceKey,
  slice: string,
): Promise<void> {
  if (isOdd(name, slice)) await table.put({ pk: oddServicesOf(cluster, namespace), sk: escaped(name) });
}

export async function readOddServices(
  { table, cluster }: ClusterStore,
  namespace: string,
): Promise<readonly string[]> {
  return (await table.query(oddServicesOf(cluster, namespace), { only: [] })).map((item) =>
    unescaped(item.sk),
  );
}

export interface SaveOptions {
  readonly source?: OutputSource;
  /** The same version also counts as newer. */
  readonly again?: boolean;
  /**
   * The version of the list that has the record. A newer record from before the list is then of a lost
   * history.
   */
  readonly listedAt?: Version | undefined;
}

/**
 * Saves the record if it is newer than the saved one. A record without an object also replaces the deleted
 * version itself. Resolves to true if it is saved.
 */
export async function saveOutput(
  table: Table,
  service: ServiceKey,
  record: OutputRecord,
  { source = 'written', again = false, listedAt }: SaveOptions = {},
): Promise<boolean> {
  const condition = isNewer(record, again);
  const isLost: WriteCondition[] =
    listedAt === undefined ? [] : [{ all: [isAfter(record), { attribute: 'v', is: '<=', value: listedAt }] }];
  const item = bodyItem(keyOf(source, service, record), record, maxSavedBytes);
  return putBody(table, service, { record, item }, { any: [condition, ...isLost] });
}

async function putBody(
  table: Table,
  service: ServiceKey,
  { record, item }: { readonly record: OutputRecord; readonly item: Item },
  condition: WriteCondition,
): Promise<boolean> {
  if (record.kind === 'EndpointSlice' && record.object) await rememberOddName(table, service, record.name);
  return table.put(item, condition);
}

/** A deletion is saved with the object's last version. With `again` the same version also counts as newer. */
const isNewer = ({ version, object }: OutputRecord, again = false): WriteCondition =>
  absentOr('v', again || !object ? '<=' : '<', version);
const isAfter = ({ version }: OutputRecord): WriteCondition => ({ attribute: 'v', is: '>', value: version });
const isVersion = (version: Version): WriteCondition => ({ attribute: 'v', is: '=', value: version });

export interface SaveLimits {
  /** Maximum size of the deltas together, bytes. */
  readonly deltaBytes: number;
  /** Maximum size of a saved object, deflated, bytes. */
  readonly savedBytes: number;
}

export interface Saved {
  /** They are saved by the write that frees the lease. */
  readonly deltas: OutputDeltas;
  /** False if another worker has saved a newer state of an output. */
  readonly isNewest: boolean;
}

/**
 * Saves the bodies. A record also replaces the version that the run has read from the table. An older record
 * than that is of a later read of the API server, so the cluster's history has gone back: etcd was restored.
 */
export async function saveOutputs(
  table: Table,
  service: ServiceKey,
  outputs: OutputsToSave,
  { deltaBytes, savedBytes }: SaveLimits,
): Promise<Saved> {
  const { deltas, asBodies } = divide(outputs, deltaBytes);
  const saved = await concurrently(8, asBodies, async (record) => {
    const key = keyOf('written', service, record);
    const body = outputs.bodies.get(key.sk);
    const condition = isNewer(record);
    const replaces = body ? { any: [condition, isVersion(body.version)] } : condition;
    return putBody(table, service, { record, item: bodyItem(key, record, savedBytes) }, replaces);
  });
  return { deltas, isNewest: saved.every((isSaved) => isSaved) };
}

export async function forgetOutputs(
  table: Table,
  service: ServiceKey,
  kinds: readonly OutputKind[],
): Promise<void> {
  const items = await table.query(partition('written', service));
  await allToEnd(
    items
      .filter(({ sk }) => kinds.includes(kindOfOutputItem(sk)))
      .map(({ pk, sk, v }) => table.delete({ pk, sk }, { attribute: 'v', is: '=', value: v as Version })),
  );
}
