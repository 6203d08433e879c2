/**
 * A process of the worker, for one of its two event sources, which the argument names. On AWS, too, an invocation has
 * its container for itself.
 */
import { handler } from '#functions/worker/worker.handler.ts';
import { runSqsFunction } from './function-process.ts';

/**
 * The timeout of events is long because all processes share the machine's cores. A batch whose time for writing is up
 * would send its messages again.
 */
const sources = {
  events: { timeoutMs: 180_000, maximumConcurrency: 4 },
  syncs: { timeoutMs: 30_000, maximumConcurrency: 32 },
} as const;

const queue = process.argv[2] === 'events' ? 'events' : 'syncs';
runSqsFunction({ name: 'worker', handler, queue, ...sources[queue] });
