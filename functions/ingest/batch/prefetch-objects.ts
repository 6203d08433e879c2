/**
 * Reads the records of the objects in small live messages at the same time as the cluster's record. A stale
 * read is harmless: it fails the condition of the write, and the record is read again. Each message is parsed
 * again when it is applied.
 */
import { type InputKind, isInput } from '#shared/kube/types.ts';
import { type Events, readEvents } from '#shared/queue/events.ts';
import { type ObjectRecord, readObject } from '#shared/store/inputs/objects.ts';
import type { IngestDeps } from './ingest-deps.ts';
import type { EventsRecord } from './redelivery.ts';

export interface ObjectsAhead {
  /** The record as read for this batch; undefined if it was not read, or the read failed. */
  recordOf(
    kind: InputKind,
    namespace: string,
    name: string,
  ): Promise<{ readonly record: ObjectRecord | undefined } | undefined>;
  /** Settles when no read is under way. */
  readonly ended: Promise<unknown>;
}

/** Parsing a larger body twice takes longer than the saved call. */
const maxBodyLength = 8_192;

export function prefetchObjects(
  deps: IngestDeps,
  cluster: string,
  records: readonly EventsRecord[],
): ObjectsAhead {
  const reads = new Map<string, Promise<{ readonly record: ObjectRecord | undefined } | undefined>>();
  const keyOf = (kind: InputKind, namespace: string, name: string): string => `${kind} ${namespace}/${name}`;
  const maxObjects = deps.limits.ingest.prefetchedObjects;
  const store = { table: deps.table, cluster };
  for (const { kind, namespace, name } of liveInputs(deps, cluster, records)) {
    if (reads.size >= maxObjects) break;
    const read = readObject(store, kind, namespace, name).then(
      (record) => ({ record }),
      () => undefined,
    );
    reads.set(keyOf(kind, namespace, name), read);
  }
  return {
    ended: Promise.allSettled(reads.values()),
    // Returns each record once. The first message about an object writes its record, and a second message of
    // the batch must read it again.
    async recordOf(kind, namespace, name) {
      const key = keyOf(kind, namespace, name);
      const read = reads.get(key);
      reads.delete(key);
      return read;
    },
  };
}

interface ObjectName {
  readonly kind: InputKind;
  readonly namespace: string;
  readonly name: string;
}

/** The objects of the small live messages. */
function* liveInputs(
  deps: IngestDeps,
  cluster: string,
  records: readonly EventsRecord[],
): Generator<ObjectName> {
  for (const { body } of records) {
    const message = body.length <= maxBodyLength ? readable(deps, body) : undefined;
    if (message?.type !== 'live' || message.cluster !== cluster || !isInput(message.kind)) continue;
    const { kind } = message;
    yield* message.entries.map(({ namespace, name }) => ({ kind, namespace, name }));
  }
}

function readable(deps: IngestDeps, body: string): Events | undefined {
  try {
    return readEvents(body, deps.limits.queue);
  } catch {
    // The application of this message reports its error. The other messages of the batch are applied.
    return undefined;
  }
}
