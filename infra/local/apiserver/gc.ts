import { kindFacts, type StoreKind, storeKinds } from './api-kinds.ts';
import type { Store } from './store.ts';

/**
 * Runs one round of the garbage collector and the namespace controller: deletes objects whose owners are all
 * deleted, and the content of terminating namespaces. Pods there are deleted at once, because no kubelet
 * would confirm that they stopped. Owners of unknown kinds are assumed to exist.
 */
export function collectGarbage(store: Store): void {
  const uids = new Set(storeKinds.flatMap((kind) => store.list(kind).map((o) => o.metadata.uid)));
  for (const kind of storeKinds) {
    for (const { metadata } of store.list(kind)) {
      const orphan = metadata.ownerReferences?.every((o) => o.kind in kindFacts && !uids.has(o.uid));
      if (orphan) store.delete(kind, metadata.namespace ?? '', metadata.name);
    }
  }
  for (const { metadata } of store.list('Namespace'))
    if (metadata.deletionTimestamp) emptyNamespace(store, metadata.name);
}

function emptyNamespace(store: Store, namespace: string): void {
  const inside = storeKinds.flatMap((kind) =>
    kindFacts[kind].namespaced ? store.list(kind, namespace) : [],
  );
  for (const { kind, metadata } of inside)
    store.delete(kind as StoreKind, namespace, metadata.name, { gracePeriodSeconds: 0 });
  if (inside.length === 0) store.remove('Namespace', '', namespace);
}

/**
 * Runs a round soon after a deletion or the creation of an owned object. `soon` is setTimeout with a short
 * delay, or a queue in virtual time.
 */
export function startGarbageCollector(store: Store, soon: (round: () => void) => void): () => void {
  let due = false;
  const stops = storeKinds.map((kind) =>
    store.watch(kind, ({ type, object }) => {
      const matters =
        type === 'DELETED' ||
        object.metadata.deletionTimestamp ||
        (type === 'ADDED' && object.metadata.ownerReferences);
      if (due || !matters) return;
      due = true;
      soon(() => {
        due = false;
        collectGarbage(store);
      });
    }),
  );
  return () => void stops.map((stop) => stop());
}
