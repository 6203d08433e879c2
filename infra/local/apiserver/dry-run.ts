import type { RawObject, StoreKind } from './api-kinds.ts';
import { alreadyExists } from './failure.ts';
import type { Store } from './store.ts';

/** Throws AlreadyExists if the name is in use. The function makes no other check of a create. */
export function dryRunCreate(store: Store, kind: StoreKind, namespace: string, incoming: object): void {
  const { name } = (incoming as Partial<RawObject>).metadata ?? {};
  if (name && store.find(kind, namespace, name)) throw alreadyExists(kind, name);
}
