import { isInput, type Kind } from '#shared/kube/types.ts';
import type { Entry } from '#shared/queue/messages.ts';
import { isWrittenByHub } from '../source/last-writer.ts';
import type { KubeObject } from '../source/watch-source.ts';

/**
 * Returns true if a hub wrote this state of an output. Returns false for a deletion, which does not name its
 * client, and for an output that is sent whole in shadow mode: the hub has to compare it.
 */
export function isEcho(
  kind: Kind,
  { type, object }: { readonly type: string; readonly object: KubeObject },
  entry: Entry,
): boolean {
  if (isInput(kind) || type === 'DELETED' || 'object' in entry) return false;
  return isWrittenByHub(object);
}

/**
 * Returns true for the hub's own write of an imported slice. The hub stores no slice of an import, so only
 * edits and deletions by others need a message.
 */
export const isOwnImportWrite = (entry: Entry): boolean =>
  'isOwnWrite' in entry && entry.isOwnWrite === true && entry.formerService === undefined;
