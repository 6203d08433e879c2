import { handler } from '#functions/sync/sync.handler.ts';
import { runSqsFunction } from './function-process.ts';

runSqsFunction({ name: 'sync', handler, queue: 'syncs', timeoutMs: 30_000, maximumConcurrency: 32 });
