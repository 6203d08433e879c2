import { readEvents } from '#shared/queue/events.ts';

/** What a batch is for, as far as its time on AWS goes by that. `beside`: of ingest, with nothing in it but echoes and heartbeats. */
export type BatchKind = 'ingest' | 'beside' | 'sync';

export function batchKind(stage: 'ingest' | 'sync', bodies: readonly string[]): BatchKind {
  if (stage === 'sync') return 'sync';
  return bodies.every(isBeside) ? 'beside' : 'ingest';
}

function isBeside(body: string): boolean {
  const message = readEvents(body);
  return message.type === 'heartbeat' || (message.type === 'live' && (message.kind === 'Endpoints' || message.kind === 'EndpointSlice'));
}
