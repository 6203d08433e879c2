import { runSqsFunction } from './function-process.ts';

const { handler } = await import(new URL('../../functions/sync/sync.handler.ts', import.meta.url).href);
runSqsFunction({ name: 'sync', handler, queue: 'syncs', timeoutMs: 30_000, maximumConcurrency: 8 });
