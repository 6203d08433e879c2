import { runSqsFunction } from './function-process.ts';

const { handler } = await import(new URL('../../functions/ingest/ingest.handler.ts', import.meta.url).href);
runSqsFunction({ name: 'ingest', handler, queue: 'events', timeoutMs: 10_000, maximumConcurrency: 4 });
