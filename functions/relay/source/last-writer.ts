import { isHub } from '#shared/kube/field-managers.ts';
import type { KubeObject } from './watch-source.ts';

interface ManagedField {
  readonly manager?: string;
  readonly time?: string;
}

/**
 * Returns true if a hub wrote this state last. Times in managedFields are whole seconds. If another writer
 * has the same time, it may have written later, so the result is false.
 */
export function isWrittenByHub({ metadata }: KubeObject): boolean {
  const { managedFields = [] } = metadata as { readonly managedFields?: readonly ManagedField[] };
  const newest = (fields: readonly ManagedField[]): number =>
    Math.max(0, ...fields.map(({ time = '' }) => Date.parse(time) || 0));
  return newest(managedFields.filter(isOurs)) > newest(managedFields.filter((field) => !isOurs(field)));
}

const isOurs = ({ manager = '' }: ManagedField): boolean => isHub(manager);
