import { isHub } from '#shared/kube/field-managers.ts';
import type { KubeObject } from './watch-source.ts';

interface ManagedField {
  readonly manager?: string;
  readonly time?: string;
}

/**
 * Has a hub written this state? Times in managedFields are whole seconds: where another writer's is as new, it may have come after, and the answer is no.
 */
export function isWrittenByHub({ metadata }: KubeObject): boolean {
  const { managedFields = [] } = metadata as { readonly managedFields?: readonly ManagedField[] };
  const newest = (fields: readonly ManagedField[]): number => Math.max(0, ...fields.map(({ time = '' }) => Date.parse(time) || 0));
  return newest(managedFields.filter(isOurs)) > newest(managedFields.filter((field) => !isOurs(field)));
}

const isOurs = ({ manager = '' }: ManagedField): boolean => isHub(manager);
