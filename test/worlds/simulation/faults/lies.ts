/**
 * A compromised relay with false lists of its cluster. In each page either all pods are missing, or all pods
 * lack addresses in a newer version.
 */
import { decodeProjection, encodeProjection } from '#shared/kube/projection/projection.ts';
import type { Pod } from '#shared/kube/types.ts';
import { decodeMessage, encodeMessage } from '#shared/queue/codec.ts';
import type { EventsMessage, InputEntry } from '#shared/queue/messages.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Profile } from './profile.ts';

/** `lies`: asked once a message. */
export function lyingQueue(queue: MessageQueue, how: Profile['lies'], lies: () => boolean): MessageQueue {
  if (how === 'never') return queue;
  return { send: (messages) => queue.send(messages.map((m) => ({ ...m, body: lie(m.body, how, lies) }))) };
}

function lie(body: string, how: Profile['lies'], lies: () => boolean): string {
  const message = decodeMessage(body) as EventsMessage;
  if (message.type !== 'list' || message.kind !== 'Pod' || !lies()) return body;
  if (how === 'empty') return encodeMessage({ ...message, entries: [] });
  return encodeMessage({
    ...message,
    entries: message.entries.map((e) => withoutAddress(e as InputEntry, message.asOf)),
  });
}

function withoutAddress(entry: InputEntry, version: string): InputEntry {
  if (entry.projection === undefined) return entry;
  const pod = decodeProjection('Pod', entry.namespace, entry.name, entry.projection);
  const { podIP: _, podIPs: __, ...status } = pod.status ?? {};
  return {
    ...entry,
    resourceVersion: version,
    projection: encodeProjection('Pod', { ...pod, status } as Pod),
  };
}
