import { handler } from '#functions/ingest/ingest.handler.ts';
import { runSqsFunction } from './function-process.ts';

// The timeout is long because all processes share the machine's cores. A batch whose time for writing is up
// would send its messages again.
runSqsFunction({ name: 'ingest', handler, queue: 'events', timeoutMs: 180_000, maximumConcurrency: 4 });
