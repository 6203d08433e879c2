/**
 * Ends the process if one case of a door takes too long. Each message is the command that repeats the case
 * which has begun.
 */
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

/** `maxMs` of the processor, and ten times as long by the clock for a case that waits for ever. */
const { maxMs } = workerData as { readonly maxMs: number };
let current: { readonly again: string; readonly begunMs: number; readonly used: NodeJS.CpuUsage } | undefined;
parentPort?.on('message', (again: string) => {
  current = { again, begunMs: performance.now(), used: process.cpuUsage() };
});
setInterval(() => {
  if (!current) return;
  const { user, system } = process.cpuUsage(current.used);
  if ((user + system) / 1_000 < maxMs && performance.now() - current.begunMs < 10 * maxMs) return;
  // The main thread, which is stuck, would have to carry out console.log.
  writeSync(1, `a case has not ended within ${maxMs} ms of the processor: ${current.again}\n`);
  process.kill(process.pid, 'SIGKILL');
}, 1_000);
