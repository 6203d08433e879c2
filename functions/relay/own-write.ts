import { fieldManager } from '#shared/contract/managed-by.ts';
import type { Kind } from '#shared/kube/types.ts';
import type { Entry } from '#shared/queue/messages.ts';
import { isInput } from './project.ts';
import type { KubeObject } from './watch-source.ts';

interface ManagedField {
  readonly manager?: string;
  readonly time?: string;
}

/**
 * Is this state of an output one that a hub has written? Times in managedFields are whole seconds: where another writer's is as new, it may have come
 * after. Of a deletion it is not known who asked for it. Where outputs are sent whole, for shadow mode, the hub compares what they say.
 */
export function isEcho(kind: Kind, { type, object }: { readonly type: string; readonly object: KubeObject }, entry: Entry): boolean {
  if (isInput(kind) || type === 'DELETED' || 'body' in entry) return false;
  const { managedFields = [] } = object.metadata as { readonly managedFields?: readonly ManagedField[] };
  const newest = (fields: readonly ManagedField[]): number => Math.max(0, ...fields.map(({ time = '' }) => Date.parse(time) || 0));
  return newest(managedFields.filter(isOurs)) > newest(managedFields.filter((field) => !isOurs(field)));
}

const isOurs = ({ manager = '' }: ManagedField): boolean => manager === fieldManager || manager.startsWith(`${fieldManager}-`);
