import { handler } from '#functions/ingest/ingest.handler.ts';
import { runSqsFunction } from './function-process.ts';

// Long, because all processes share the machine's cores here: a batch that has to leave off writing sends its messages again while it still notifies services.
runSqsFunction({ name: 'ingest', handler, queue: 'events', timeoutMs: 180_000, maximumConcurrency: 4 });
