/** Runs the scheduled function, which AWS runs every minute, more often, so its repairs are soon visible. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { handler } from '#functions/sweep/sweep.handler.ts';
import { jsonLog } from '#shared/telemetry/log.ts';
import { onStop, report, writeLine } from '../processes/child-process.ts';
import { awsMetrics } from './aws-metrics.ts';

const everyMs = 10_000;
/** The same as in infra/aws/stages/sweep-stage.ts. */
const timeoutMs = 55_000;
const log = jsonLog(writeLine, Date.now, { stage: 'sweep' });
const metrics = awsMetrics('AWS/Lambda', writeLine, Date.now);
const stopping = new AbortController();

async function run(): Promise<void> {
  while (!stopping.signal.aborted) {
    const start = performance.now();
    const getRemainingTimeInMillis = (): number => timeoutMs - (performance.now() - start);
    const context = { awsRequestId: randomUUID(), getRemainingTimeInMillis, invokedFunctionArn: 'sweep' };
    const error = await handler({}, context).then(
      () => undefined,
      (e: unknown) => e ?? new Error('rejected with nothing'),
    );
    if (error) log.error('function failed', { functionName: 'sweep', error });
    metrics.put({ FunctionName: 'sweep' }, 'Invocations', 1);
    metrics.put({ FunctionName: 'sweep' }, 'Errors', error ? 1 : 0);
    metrics.put({ FunctionName: 'sweep' }, 'Throttles', 0);
    metrics.put({ FunctionName: 'sweep' }, 'Duration', performance.now() - start);
    metrics.flush();
    await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
  }
}

report();
const done = run();
onStop(() => {
  stopping.abort();
  return done;
});
