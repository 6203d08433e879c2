/** Clients that have written fields of an object, by managedFields. */
import { fieldManager } from './names.ts';
import type { EndpointSlice, Endpoints } from './types.ts';
import type { ObjectMeta } from './wire.ts';

export interface LastWrite {
  readonly manager: string;
  /** ms since the epoch. */
  readonly atMs: number;
}

/** Returns the last write to addresses or ports; undefined if managedFields name no such write. */
export function lastContentWrite({
  metadata: { managedFields },
}: Pick<Endpoints | EndpointSlice, 'metadata'>): LastWrite | undefined {
  let last: LastWrite | undefined;
  for (const { manager = '', time } of (managedFields ?? []).filter(hasContent)) {
    const at = Date.parse(time ?? '') || 0;
    if (!last || at >= last.atMs) last = { manager, atMs: at };
  }
  return last;
}

const hasContent = ({ fieldsV1, subresource }: NonNullable<ObjectMeta['managedFields']>[number]): boolean =>
  !subresource && (!fieldsV1 || contentFields.some((field) => field in fieldsV1));

/** Each is atomic, so its last writer is its only manager. */
const contentFields = ['f:subsets', 'f:endpoints', 'f:ports'];

/** Returns the annotations that other field managers have set, and `manager` has not. */
export function annotationsOfOthers(
  { annotations, managedFields }: ObjectMeta,
  manager: string,
): { readonly [key: string]: string } {
  const setBy = (isOwn: boolean): ReadonlySet<string> => {
    const fields = (managedFields ?? []).filter((field) => (field.manager === manager) === isOwn);
    return new Set(
      fields.flatMap(({ fieldsV1 }) =>
        Object.keys((fieldsV1 as AnnotationFields | undefined)?.['f:metadata']?.['f:annotations'] ?? {}),
      ),
    );
  };
  const [own, others] = [setBy(true), setBy(false)];
  return Object.fromEntries(
    Object.entries(annotations ?? {}).filter(([key]) => others.has(`f:${key}`) && !own.has(`f:${key}`)),
  );
}

interface AnnotationFields {
  readonly 'f:metadata'?: { readonly 'f:annotations'?: object };
}

/** This hub or another one. */
export const isHub = (manager: string): boolean => manager.startsWith(`${fieldManager}-`);

/**
 * Distributions that run kube-controller-manager inside a process of their own write under the name of that
 * process.
 */
export const isBuiltInController = (manager: string): boolean =>
  ['kube-controller-manager', 'k3s', 'kubelite'].includes(manager);

/** A person at a terminal. */
export const isKubectl = (manager: string): boolean => manager.startsWith('kubectl');
