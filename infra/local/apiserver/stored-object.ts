/**
 * The rules of the API server for one object: what a write copies, and what it keeps of the former object.
 */
import { kindFacts, type RawMeta, type RawObject, type StoreKind } from './api-kinds.ts';
import { copyWithoutNulls } from './copy.ts';
import { badRequest, conflict } from './failure.ts';

export type WriteOptions = { readonly manager?: string; readonly subresource?: 'status' | undefined };

export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

export const inherited = [
  'uid',
  'creationTimestamp',
  'generateName',
  'generation',
  'resourceVersion',
  'managedFields',
] as const;
export const fixedByDeletion = ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const;

/** Returns a private copy without null fields, with this kind and namespace. */
export function copy(kind: StoreKind, namespace: string, incoming: object): RawObject {
  const object = copyWithoutNulls(incoming) as RawObject;
  object.metadata ??= {} as RawMeta;
  if (namespace && object.metadata.namespace && object.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (kindFacts[kind].namespaced) object.metadata.namespace = namespace;
  return Object.assign(object, { apiVersion: kindFacts[kind].apiVersion, kind });
}

export function graceOf(
  kind: StoreKind,
  { metadata, spec, status }: RawObject,
  options: DeleteOptions,
): number {
  if (
    kind !== 'Pod' ||
    !spec?.['nodeName'] ||
    status?.['phase'] === 'Succeeded' ||
    status?.['phase'] === 'Failed'
  )
    return 0;
  return (
    options.gracePeriodSeconds ??
    metadata.deletionGracePeriodSeconds ??
    (spec['terminationGracePeriodSeconds'] as number | undefined) ??
    30
  );
}

export function keep<T extends object>(target: T, old: T, field: keyof T): void {
  if (old[field] === undefined) delete target[field];
  else target[field] = old[field];
}

/** Throws a conflict if the object is another one than the caller has seen. */
export function checkPreconditions(
  kind: StoreKind,
  { metadata: { name, uid, resourceVersion } }: RawObject,
  { preconditions }: DeleteOptions,
): void {
  for (const [what, wanted, is] of [
    ['UID', preconditions?.uid, uid],
    ['ResourceVersion', preconditions?.resourceVersion, resourceVersion],
  ]) {
    const why = `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${is})`;
    if (wanted && wanted !== is) throw conflict(kind, name, why, 'kind');
  }
}

/** Notes the writer in `managedFields`, in place of its former entry. `time` is RFC 3339. */
export function stamp(
  object: RawObject,
  before: NonNullable<RawMeta['managedFields']>,
  { manager = 'unknown', subresource }: WriteOptions,
  time: string,
): void {
  const others = before.filter((m) => m.manager !== manager || m.subresource !== subresource);
  const mine = {
    manager,
    operation: 'Update',
    apiVersion: object.apiVersion,
    time,
    ...(subresource && { subresource }),
  };
  object.metadata.managedFields = [...others, mine];
}
