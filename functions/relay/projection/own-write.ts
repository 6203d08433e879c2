import type { Kind } from '#shared/kube/types.ts';
import type { Entry } from '#shared/queue/messages.ts';
import { isWrittenByHub } from '../source/last-writer.ts';
import type { KubeObject } from '../source/watch-source.ts';
import { isInput } from './project.ts';

/**
 * Is this state of an output one that a hub has written? Of a deletion it is not known who asked for it. Where outputs are sent whole, for shadow mode,
 * the hub compares what they say.
 */
export function isEcho(kind: Kind, { type, object }: { readonly type: string; readonly object: KubeObject }, entry: Entry): boolean {
  if (isInput(kind) || type === 'DELETED' || 'body' in entry) return false;
  return isWrittenByHub(object);
}
