/** A hub in memory for tests of ingest: one cluster, its queues, and messages as a relay sends them. */

import type { IngestDeps } from '#functions/ingest/batch/ingest-deps.ts';
import type { EventsRecord } from '#functions/ingest/batch/redelivery.ts';
import { freshCaches } from '#functions/ingest/batch/warm-caches.ts';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { markFirstListApplied } from '#shared/clusters/relay/first-lists.ts';
import { bindOwnSession } from '#shared/clusters/relay/sessions.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { type InputKind, type Kind, kinds, type ObjectOfKind } from '#shared/kube/types.ts';
import { decodeMessage, encodeMessage } from '#shared/queue/codec.ts';
import { type InputEntry, messageVersion, type OutputEntry } from '#shared/queue/messages.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { versionOf } from '#shared/store/version.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

export const silent: Log = { info() {}, warn() {}, error() {}, with: () => silent };

/** `firstLists`: whether those of the cluster are complete already. */
export async function ingestHub({
  firstLists = 'complete',
}: {
  readonly firstLists?: 'complete' | 'missing';
} = {}) {
  const clock = { now: 1_000_000 };
  const table = memoryTable();
  const queues = memoryClusterQueues(() => clock.now);
  const metrics = new Map<string, number>();
  const deps: IngestDeps = {
    table,
    queues: () => queues,
    metrics: { put: (name, value) => void metrics.set(name, (metrics.get(name) ?? 0) + value) },
    log: silent,
    now: () => clock.now,
    limits: defaultLimits,
    caches: freshCaches(),
  };
  await registerCluster(table, { id: 'c', mode: 'active' }, Date.now());
  if (firstLists === 'complete')
    for (const kind of kinds)
      await markFirstListApplied(table, { id: 'c', incarnation: 1 }, kind, versionOf(1, '1'));
  const header = { v: messageVersion, cluster: 'c', session: 's', uid: 'cluster-uid', firstListVersion: '1' };
  let lists = 0;
  let ids = 0;

  return {
    clock,
    table,
    store: { table, cluster: 'c' },
    queues,
    metrics,
    deps,
    header,
    /** The ids of the messages that are to come back. */
    async ingest(...messages: readonly (object | string)[]): Promise<readonly string[]> {
      const records = messages.map(
        (m): EventsRecord => ({
          messageId: `m${++ids}`,
          sentAtMs: clock.now,
          body: typeof m === 'string' ? m : encodeMessage(m),
        }),
      );
      return ingestBatch(deps, 'c', records);
    },
    live: (kind: Kind, asOf: number, ...entries: readonly (InputEntry | OutputEntry)[]) => ({
      ...header,
      type: 'live',
      kind,
      asOf: String(asOf),
      entries,
    }),
    list: (kind: Kind, asOf: number, ...entries: readonly (InputEntry | OutputEntry)[]) => ({
      ...header,
      type: 'list',
      kind,
      asOf: String(asOf),
      listId: `l${++lists}`,
      partNumber: 0,
      isLast: true,
      from: '',
      to: '',
      entries,
    }),
    /** The list as sweep sends it that has looked at the cluster itself. */
    async confirmed<L extends object>(list: L) {
      await bindOwnSession(table, { id: 'c', incarnation: 1 }, 'sweep-1', clock.now);
      return { ...list, session: 'sweep-1' };
    },
    /** Wake-ups that were sent since the last time, by service. */
    woken(): readonly WakeUpMessage[] {
      const sent = queues.syncs.waiting().map((m) => decodeMessage(m.body) as WakeUpMessage);
      queues.syncs.purge();
      return sent.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async emptyLists(asOf: number): Promise<void> {
      await this.ingest(...kinds.map((kind) => this.list(kind, asOf)));
    },
  };
}
export type IngestHub = Awaited<ReturnType<typeof ingestHub>>;

/** An entry of an input kind at a version; without the object, of its end. */
export function entry<K extends InputKind>(
  kind: K,
  rv: number,
  object: ObjectOfKind[K] | undefined,
  name = object?.metadata.name ?? '',
): InputEntry {
  const namespace = kind === 'Node' ? '' : (object?.metadata.namespace ?? 'ns');
  return {
    namespace,
    name,
    resourceVersion: String(rv),
    ...(object && { projection: encodeProjection(kind, object) }),
  };
}
