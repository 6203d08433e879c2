import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Asks Linux not to preempt a running process when this one wakes up, or one that it starts from now on (SCHED_BATCH). The
 * processes of a local run wake each other for every call of the table, and share few cores with the cluster: on two busy ones the table was
 * interrupted half as often again (docs/benchmarks.md). False where there is no chrt, or it may not: then all stays as it is.
 */
export async function scheduleAsBatch(pid = process.pid): Promise<boolean> {
  try {
    await promisify(execFile)('chrt', ['-b', '-p', '0', String(pid)]);
    return true;
  } catch {
    return false;
  }
}
