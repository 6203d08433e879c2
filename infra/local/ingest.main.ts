import { handler } from '#functions/ingest/ingest.handler.ts';
import { runSqsFunction } from './function-process.ts';

runSqsFunction({ name: 'ingest', handler, queue: 'events', timeoutMs: 20_000, maximumConcurrency: 4 });
