/** Ends the process if one case of a door takes too long. Each message is the command that repeats the case which has begun. */
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const { maxMs } = workerData as { readonly maxMs: number };
let timer: NodeJS.Timeout | undefined;
parentPort?.on('message', (again: string) => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    // The main thread, which is stuck, would have to carry out console.log.
    writeSync(1, `a case has not ended within ${maxMs} ms: ${again}\n`);
    process.kill(process.pid, 'SIGKILL');
  }, maxMs);
});
