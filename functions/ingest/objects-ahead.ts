/**
 * What the usual batch needs is asked for together with the cluster's record: the records of the objects in small live messages, and the next number of
 * their Pods' log. Nothing is decided by it. A record that has changed since is found by the condition of its write, a number that is not used gets its
 * entry, and what a message really says is read again when it is applied.
 */
import { limitsOf } from '#shared/contract/limits.ts';
import type { InputKind } from '#shared/kube/types.ts';
import type { PodLogWriter } from '#shared/pod-log/pod-log-writer.ts';
import { UnreadableMessage } from '#shared/queue/codec.ts';
import { type Events, readEvents } from '#shared/queue/events.ts';
import { type ObjectRecord, readObject } from '#shared/store/objects.ts';
import type { IngestDeps } from './deps.ts';
import type { EventsRecord } from './put-off.ts';

export interface ObjectsAhead {
  /** The record as it was read for this batch; undefined where it was not, or could not be. */
  recordOf(kind: InputKind, namespace: string, name: string): Promise<{ readonly record: ObjectRecord | undefined } | undefined>;
}

/** A larger body takes longer to read than the call that would be saved, and is read once. */
const longestBody = 8_192;

export function readAhead(deps: IngestDeps, cluster: string, records: readonly EventsRecord[], podLog: PodLogWriter): ObjectsAhead {
  const reads = new Map<string, Promise<{ readonly record: ObjectRecord | undefined } | undefined>>();
  const keyOf = (kind: InputKind, namespace: string, name: string): string => `${kind} ${namespace}/${name}`;
  const mostObjects = limitsOf(deps).ingest.readAhead;
  const store = { table: deps.table, cluster };
  for (const { body } of records) {
    const message = body.length <= longestBody ? readable(deps, body) : undefined;
    if (message?.type !== 'live' || message.cluster !== cluster || message.kind === 'Endpoints' || message.kind === 'EndpointSlice') continue;
    const { kind } = message;
    for (const { namespace, name } of message.entries) {
      if (reads.size >= mostObjects) break;
      const record = readObject(store, kind, namespace, name);
      reads.set(
        keyOf(kind, namespace, name),
        record.then(
          (found) => ({ record: found }),
          () => undefined,
        ),
      );
      if (kind === 'Pod') podLog.takeAhead(namespace);
    }
  }
  return {
    // Once: a second message of the batch about the object meets what the first one wrote.
    async recordOf(kind, namespace, name) {
      const key = keyOf(kind, namespace, name);
      const read = reads.get(key);
      reads.delete(key);
      return read;
    },
  };
}

function readable(deps: IngestDeps, body: string): Events | undefined {
  try {
    return readEvents(body, limitsOf(deps).queue);
  } catch (error) {
    if (error instanceof UnreadableMessage) return undefined;
    throw error;
  }
}
