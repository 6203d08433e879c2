import { handler } from '#functions/ingest/ingest.handler.ts';
import { runSqsFunction } from './function-process.ts';

// Twice the time in AWS: here all processes share the machine's cores.
runSqsFunction({ name: 'ingest', handler, queue: 'events', timeoutMs: 60_000, maximumConcurrency: 4 });
