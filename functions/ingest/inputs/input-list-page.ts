/**
 * Applies a page of a consistent list (docs/develop/architecture.md, "List"): at the version of the list exactly
 * these entries existed in the key range. First lists, relists and periodic inventories are applied alike.
 */
import { beginFirstList, requestOwnList } from '#shared/clusters/relay/first-lists.ts';
import { isOwnSession } from '#shared/clusters/relay/sessions.ts';
import { hasRuns, servesFromSnapshot } from '#shared/clusters/writer/mode.ts';
import { isWalkPending } from '#shared/clusters/writer/mode-switch.ts';
import { concurrently } from '#shared/concurrently.ts';
import type { InputListPart } from '#shared/queue/events.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { raiseFence } from '#shared/store/inputs/lists.ts';
import { markNamespaceEmpty, namespacesInRange } from '#shared/store/inputs/namespaces.ts';
import {
  type ObjectHead,
  type ObjectRecord,
  objectHeadOf,
  objectHeads,
  purgeTombstone,
  readObject,
  readObjects,
} from '#shared/store/inputs/objects.ts';
import { forgetOutputs } from '#shared/store/outputs/outputs.ts';
import { listed } from '#shared/store/pages.ts';
import { type KeyRange, RangeTooLarge } from '#shared/store/table.ts';
import { type Version, versionOf } from '#shared/store/version.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import type { MessageContext } from '../batch/batch-context.ts';
import { rangeWithin } from '../batch/key-range.ts';
import { type MarkApplied, markApplied } from '../batch/page-progress.ts';
import { applyObject } from './apply-object.ts';
import { isSuspicious, nameKey, type PagePlan, planPage, type StoredObject } from './list-plan.ts';
import type { VersionedEntry } from './object-plan.ts';

/** Resolves to undefined if the page is not applied whole, so it must not be marked as applied. */
export async function applyInputPart(
  context: MessageContext,
  part: InputListPart,
): Promise<MarkApplied | undefined> {
  const { store, cluster, effects, incarnation } = context;
  const version = versionOf(incarnation, part.asOf);
  await raiseFence(store.table, store.cluster, part.kind, version);
  const isFirst =
    incarnation === cluster.incarnation && (await beginFirstList(store.table, cluster, part.kind, version));
  const stored = await readRange(context, part);
  for (const key of part.omitted) stored.delete(key);
  const page = planPage(stored, entriesOf(part, incarnation, { asOf: version, isFirst }), version);

  await concurrently(16, page.write, ({ entry, stored: known }) =>
    applyObject(context, part.kind, entry, knownOf(known)),
  );
  if (await awaitsOwnList(context, part, page)) return undefined;
  await concurrently(16, page.tombstone, (gone) => {
    // A page that comes again does not contain the deleted object, so its record marks the services as
    // pending, in a first list too.
    const deletion = {
      namespace: gone.namespace,
      name: gone.name,
      version,
      projection: undefined,
      asOf: version,
      listed: true,
    };
    return applyObject(context, part.kind, deletion, knownOf(gone));
  });
  await concurrently(16, page.pending, async ({ namespace, name, record: read }) => {
    context.checkTime();
    const record = read ?? (await readObject(store, part.kind, namespace, name));
    if (!record?.unnotifiedLabels) return;
    effects.recordWrite(part.kind, namespace);
    effects.notify({ kind: part.kind, record, podChange: undefined, observedAtMs: undefined });
  });
  await purge(context, part, page);
  return () => markApplied(context, part, version);
}

const entriesOf = (
  part: InputListPart,
  incarnation: number,
  { asOf, isFirst }: { asOf: Version; isFirst: boolean },
): readonly VersionedEntry[] =>
  part.entries.map(({ namespace, name, resourceVersion, projection, notReady }) => ({
    namespace,
    name,
    version: versionOf(incarnation, resourceVersion),
    projection,
    notReady,
    asOf,
    listed: true,
    ofFirstList: isFirst,
  }));

/** Absent if the record is stored but not read yet. */
const knownOf = (
  stored: StoredObject | undefined,
): { readonly record: ObjectRecord | undefined } | undefined =>
  stored && !stored.record ? undefined : { record: stored?.record };

const namespacesAtOnce = 8;

/** The stored objects of the part's key range, by "namespace/name". */
async function readRange(
  context: MessageContext,
  { kind, from, to, entries }: InputListPart,
): Promise<Map<string, StoredObject>> {
  const { store, checkTime } = context;
  const read = rangeReader(context, kind);
  if (kind === 'Node' || kind === 'Namespace') return byKey(await read('', rangeWithin('', from, to)));
  if (kind === 'ServiceExport' || kind === 'ServiceImport')
    return byKey(await read('', { ...(from !== '' && { from }), ...(to !== '' && { to }) }));
  const namespaces = await namespacesInRange(store, kind, { from, to });
  const listedIn = new Set(entries.map((e) => e.namespace));
  const objects = await concurrently(namespacesAtOnce, namespaces, async (ns) => {
    checkTime();
    const range = rangeWithin(ns.name, from, to);
    const found = await read(ns.name, range);
    const isWholeNamespace = range.from === undefined && range.to === undefined;
    if (found.length === 0 && isWholeNamespace && !listedIn.has(ns.name))
      await markNamespaceEmpty(store, kind, ns);
    return found;
  });
  return byKey(objects.flat());
}

/**
 * Returns a function that reads the stored objects of a namespace. A tenant can make the records of a page's
 * key range as large as it likes, so the texts are read with them only up to `rangeBytes`. Each other record
 * is read when it is compared or deleted.
 */
function rangeReader({ deps, store }: MessageContext, kind: InputListPart['kind']) {
  const { rangeBytes } = deps.limits.ingest;
  let bytes = 0;
  return async (namespace: string, range: KeyRange): Promise<readonly StoredObject[]> => {
    try {
      if (bytes > rangeBytes) throw new RangeTooLarge('the other namespaces have more');
      const records = await readObjects(store, kind, namespace, {
        ...range,
        maxBytes: rangeBytes / namespacesAtOnce,
      });
      bytes += records.reduce((sum, { projection = '' }) => sum + projection.length, 0);
      return records.map((record) => ({ ...objectHeadOf(record), record }));
    } catch (error) {
      if (!(error instanceof RangeTooLarge)) throw error;
      return listed(objectHeads(store, kind, namespace, range));
    }
  };
}

const byKey = (objects: readonly StoredObject[]): Map<string, StoredObject> =>
  new Map(objects.map((o) => [nameKey(o), o]));

/**
 * Returns true for a page that would delete too much. It deletes nothing until sweep has listed the kind
 * itself. Pages of sweep's own list are applied.
 */
async function awaitsOwnList(
  { deps, cluster, store, incarnation }: MessageContext,
  part: InputListPart,
  page: PagePlan,
): Promise<boolean> {
  if (!servesFromSnapshot(cluster) || !isSuspicious(page, deps.limits.ingest)) return false;
  if (await isOwnSession(store.table, store.cluster, part.session)) return false;
  const missing = page.tombstone.length;
  // Drift is counted only for a new request, because every list of the relay comes here until sweep has made
  // its own list.
  if (await requestOwnList(store.table, store.cluster, part.kind, versionOf(incarnation, part.asOf)))
    deps.metrics.put('Drift', missing, { cluster: cluster.id });
  deps.log.warn('list would delete too much: not applied until it is confirmed', {
    cluster: cluster.id,
    kind: part.kind,
    missing,
    of: page.alive,
  });
  return true;
}

async function purge(
  { deps, cluster, store, checkTime }: MessageContext,
  { kind }: InputListPart,
  { redundant }: PagePlan,
): Promise<void> {
  // A later step wakes every Service record, so records of Services that were deleted meanwhile must stay.
  if (
    kind === 'Service' &&
    (isWalkPending(cluster.modeSwitch) || cluster.lists.suppressesWakeUps || !hasRuns(cluster))
  )
    return;
  const { tombstoneMs } = deps.limits.ingest;
  const old = redundant.filter((r) => deps.now() - r.deletedAtMs > tombstoneMs);
  await concurrently(16, old, async (r) => {
    checkTime();
    if (kind === 'Service') await forgetEndpoints(store, r);
    await purgeTombstone(store, kind, r);
  });
}

/**
 * Forgets saved Endpoints that no run has deleted, in shadow mode or after a run was given up. Otherwise each
 * list would take them for our own. A pending run deletes them itself, and its history begins with the saved
 * state.
 */
async function forgetEndpoints(
  { table, cluster }: ClusterStore,
  { namespace, name }: ObjectHead,
): Promise<void> {
  const service = { cluster, namespace, name };
  const { dirtyAtMs } = await readWork(table, { ...service, kind: 'service' });
  if (dirtyAtMs === undefined) await forgetOutputs(table, service, ['Endpoints']);
}
