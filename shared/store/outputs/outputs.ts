/**
 * The saved outputs of a service: written by sync and confirmed by the API server, or, in shadow mode,
 * written by the cluster's own controllers.
 */
import { allToEnd, concurrently } from '#shared/concurrently.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import type { ClusterStore } from '../cluster-store.ts';
import {
  deltaOf,
  endpointsOutput,
  escaped,
  isDelta,
  oddServicesOf,
  outputsOf,
  type ServiceKey,
  seenOf,
  sliceOutput,
  unescaped,
} from '../keys.ts';
import { absentOr, type Item, type Key, type KeyRange, type Table, type WriteCondition } from '../table.ts';
import type { Version } from '../version.ts';
import {
  bodyItem,
  decodeOutput,
  deltaItem,
  headOf,
  isThere,
  kindOfOutputItem,
  maxSavedBytes,
  type OutputRecord,
  type SavedBody,
  savedBodyOf,
} from './output-items.ts';

export type { OutputObject, OutputRecord, SavedBody } from './output-items.ts';

export interface OutputName {
  readonly kind: OutputKind;
  readonly name: string;
}

/** Bodies by the sort key of their items. */
export type SavedBodies = ReadonlyMap<string, SavedBody>;

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
const sortKey = ({ kind, name }: OutputName): string =>
  kind === 'Endpoints' ? endpointsOutput : sliceOutput(name);
const keyOf = (source: OutputSource, s: ServiceKey, name: OutputName): Key => ({
  pk: partition(source, s),
  sk: sortKey(name),
});

export async function readOutputs(
  table: Table,
  service: ServiceKey,
  source: OutputSource = 'written',
): Promise<readonly OutputRecord[]> {
  return (await readSaved(table, service, source)).outputs;
}

export async function readSaved(
  table: Table,
  service: ServiceKey,
  source: OutputSource = 'written',
): Promise<SavedOutputs> {
  const items = await table.query(partition(source, service));
  const deltas = new Map(items.filter(isDelta).map((item) => [item.sk, item]));
  const bodies = new Map<string, SavedBody>();
  const outputs = items
    .filter((item) => !isDelta(item))
    .map((item) => {
      const body = savedBodyOf(item);
      const delta = deltas.get(deltaOf(item.sk));
      bodies.set(item.sk, delta ? { ...body, deltaVersion: headOf(delta).version } : body);
      return decodeOutput(item, body, delta);
    });
  return { outputs, bodies };
}

export interface ReadOptions {
  /** If the body is enough, its delta is not read. */
  readonly isEnough?: (body: SavedBody) => boolean;
  readonly source?: OutputSource;
}

export async function readOutput(
  table: Table,
  service: ServiceKey,
  name: OutputName,
  { isEnough = () => false, source = 'written' }: ReadOptions = {},
): Promise<OutputRecord | undefined> {
  const key = keyOf(source, service, name);
  const item = await table.get(key);
  if (!item) return undefined;
  const body = savedBodyOf(item);
  const delta = isEnough(body) ? undefined : await table.get({ ...key, sk: deltaOf(key.sk) });
  return decodeOutput(item, body, delta);
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

/**
 * A late worker may have put back the body before. The delta of this version then belongs to no body, and the
 * output is unknown until it is replaced.
 */
const isNewerDelta = (record: OutputRecord, { version }: SavedBody): WriteCondition => ({
  any: [
    isNewer(record),
    {
      all: [
        { attribute: 'v', is: '=', value: record.version },
        {
          any: [
            { attribute: 'of', is: '<', value: version },
            { attribute: 'of', is: '>', value: version },
          ],
        },
      ],
    },
  ],
});

export interface SaveLimits {
  /** Size of a write unit, bytes. */
  readonly unitBytes: number;
  /** Maximum size of a saved object, deflated, bytes. */
  readonly savedBytes: number;
}

/**
 * Resolves to false if another worker has saved a newer state of an output. A record also replaces the
 * version that the run has read from the table. An older record than that is of a later read of the API
 * server, so the cluster's history has gone back: etcd was restored.
 */
export async function saveOutputs(
  table: Table,
  service: ServiceKey,
  { bodies, changed }: { readonly bodies: SavedBodies; readonly changed: readonly OutputRecord[] },
  { unitBytes, savedBytes }: SaveLimits,
): Promise<boolean> {
  const saved = await concurrently(8, changed, async (record) => {
    const key = keyOf('written', service, record);
    const body = bodies.get(key.sk);
    const { deltaVersion } = body ?? {};
    if (deltaVersion !== undefined && record.version < deltaVersion)
      await table.delete({ ...key, sk: deltaOf(key.sk) }, isVersion(deltaVersion));
    const delta = body && deltaItem({ ...key, sk: deltaOf(key.sk) }, record, body, unitBytes);
    if (delta) return table.put(delta, isNewerDelta(record, body));
    const condition = isNewer(record);
    const item = bodyItem(key, record, savedBytes);
    const replaces = body ? { any: [condition, isVersion(body.version)] } : condition;
    return putBody(table, service, { record, item }, replaces);
  });
  return saved.every((isSaved) => isSaved);
}

export async function forgetOutputs(
  table: Table,
  service: ServiceKey,
  kinds: readonly OutputKind[],
): Promise<void> {
  const items = await table.query(partition('written', service));
  const outputs = items.filter((item) => !isDelta(item) && kinds.includes(kindOfOutputItem(item.sk)));
  const deltas = items.filter((item) => outputs.some(({ sk }) => deltaOf(sk) === item.sk));
  await allToEnd(
    [...outputs, ...deltas].map(({ pk, sk, v }) =>
      table.delete({ pk, sk }, { attribute: 'v', is: '=', value: v as Version }),
    ),
  );
}
