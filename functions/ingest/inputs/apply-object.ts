/**
 * An entry of an input kind becomes the newest record of its object, or loses to a newer record. This module
 * writes and collects pending notifications; event-batch.ts notifies the services. The order of steps is
 * object, versions of the sets, generation, wake-up (docs/develop/architecture.md, "Invariants"). Then the record's
 * `unnotifiedLabels` are cleared, and the list page is marked. The first step is here.
 */
import type { InputKind } from '#shared/kube/types.ts';
import { readFence } from '#shared/store/inputs/lists.ts';
import { indexNamespace } from '#shared/store/inputs/namespaces.ts';
import { isAlive, type ObjectRecord, putObject, readObject } from '#shared/store/inputs/objects.ts';
import type { MessageContext } from '../batch/batch-context.ts';
import { type ObjectPlan, planObject, type VersionedEntry } from './object-plan.ts';

/**
 * `known` is the record as the caller has just read it, with undefined for an absent record. If it is left
 * out, the record is read here.
 */
export async function applyObject(
  context: MessageContext,
  kind: InputKind,
  entry: VersionedEntry,
  known?: { readonly record: ObjectRecord | undefined },
): Promise<void> {
  const { cluster, store } = context;
  const { namespace, name } = entry;
  let before = known ? known.record : await readObject(store, kind, namespace, name);
  for (;;) {
    context.checkTime();
    const plan = planObject(kind, before, entry, cluster.relay.kubernetesVersion);
    if (plan.kind === 'stale') return notifyAgain(context, kind, entry, plan.stored);
    const isCreated = entry.projection !== undefined && !isAlive(before);
    if (isCreated && (await isLeftOutByList(context, kind, entry))) return;
    if (await write(context, kind, entry, { plan, before })) return;
    before = await readObject(store, kind, namespace, name);
  }
}

/**
 * A newer list does not have the object. Its deletion may not be sent again, so the object would exist here
 * for good.
 */
const isLeftOutByList = async (
  { store, cluster }: MessageContext,
  kind: InputKind,
  { asOf }: VersionedEntry,
): Promise<boolean> => asOf < (await readFence(store.table, cluster.id, kind));

interface PlannedWrite {
  readonly plan: Extract<ObjectPlan, { readonly kind: 'write' }>;
  readonly before: ObjectRecord | undefined;
}

/** Resolves to false if the stored record is no longer `before`. */
async function write(
  context: MessageContext,
  kind: InputKind,
  entry: VersionedEntry,
  { plan, before }: PlannedWrite,
): Promise<boolean> {
  const { deps, cluster, store, effects } = context;
  const { namespace, name, projection, notReady, observedAtMs } = entry;
  const { version, unnotifiedLabels, podChange, isZoneKept } = plan;
  const record = {
    namespace,
    name,
    version,
    projection,
    notReady,
    unnotifiedLabels,
    deletedAtMs: deps.now(),
  };
  await putIntoIndex(context, namespace);
  if (!isOfAnswersAlone(kind, before, entry, plan.isPending)) effects.recordWrite(kind, namespace);
  if (!(await putObject(store, kind, record, before))) return false;
  if (observedAtMs !== undefined)
    deps.metrics.put('IngestLatency', Math.max(0, deps.now() - observedAtMs), { cluster: cluster.id });
  if (plan.isPending) effects.notify({ kind, record, podChange, isZoneKept, observedAtMs });
  return true;
}

/**
 * Returns true if nothing but what answers read of a Pod has changed. Lists and walks need not know of such a
 * write, because the namespace holds the Pod as before.
 */
const isOfAnswersAlone = (
  kind: InputKind,
  before: ObjectRecord | undefined,
  { projection, listed }: VersionedEntry,
  isPending: boolean,
): boolean => kind === 'Pod' && !listed && !isPending && isAlive(before) && before.projection === projection;

/**
 * The batch that wrote the record may have crashed before it raised the versions of the sets or notified the
 * services. A live message then comes again, and so does a page of a first list; their services are notified
 * again. Pages of other lists come regularly for every object; for these only notifications that the record
 * marks as pending are repeated.
 */
function notifyAgain(
  { effects }: MessageContext,
  kind: InputKind,
  entry: VersionedEntry,
  stored: ObjectRecord,
): void {
  const { listed, ofFirstList, observedAtMs } = entry;
  if (listed && !ofFirstList && !stored.unnotifiedLabels) return;
  effects.recordWrite(kind, stored.namespace);
  effects.notify({ kind, record: stored, podChange: undefined, observedAtMs });
}

/** Lists would not find the object without its namespace in the index. */
async function putIntoIndex(
  { deps, cluster, effects, store }: MessageContext,
  namespace: string,
): Promise<void> {
  const key = `${cluster.id}/${namespace}@${cluster.cacheScope}`;
  if (deps.caches.namespaces.get(key)) return;
  await effects.indexOnce(namespace, () => indexNamespace(store, namespace));
  deps.caches.namespaces.set(key, true);
}
