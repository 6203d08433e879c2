import type { WorkKind } from '#shared/kube/work-kinds.ts';
import { readEvents } from '#shared/queue/events.ts';
import { readWakeUp } from '#shared/queue/parse.ts';

/**
 * Kinds of batches, by which their time on AWS is drawn. `beside`: an ingest batch of echoes and heartbeats
 * only. Sync has runs of three kinds of work.
 */
export type BatchKind = 'ingest' | 'beside' | WorkKind;

/** A batch with work of several kinds counts as the first of them. */
export function batchKind(stage: 'ingest' | 'sync', bodies: readonly string[]): BatchKind {
  if (stage === 'ingest') return bodies.every(isBeside) ? 'beside' : 'ingest';
  const [first = ''] = bodies;
  return readWakeUp(first).kind;
}

function isBeside(body: string): boolean {
  const message = readEvents(body);
  return (
    message.type === 'heartbeat' ||
    (message.type === 'live' && (message.kind === 'Endpoints' || message.kind === 'EndpointSlice'))
  );
}
