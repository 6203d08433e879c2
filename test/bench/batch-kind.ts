import { readEvents } from '#shared/queue/events.ts';

/** Kinds of batches, by which their time on AWS is drawn. `beside`: an ingest batch of echoes and heartbeats only. */
export type BatchKind = 'ingest' | 'beside' | 'sync';

export function batchKind(stage: 'ingest' | 'sync', bodies: readonly string[]): BatchKind {
  if (stage === 'sync') return 'sync';
  return bodies.every(isBeside) ? 'beside' : 'ingest';
}

function isBeside(body: string): boolean {
  const message = readEvents(body);
  return message.type === 'heartbeat' || (message.type === 'live' && (message.kind === 'Endpoints' || message.kind === 'EndpointSlice'));
}
