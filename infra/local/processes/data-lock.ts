/**
 * The lock of a data folder, which one run at a time may use. A second run's table and queues could not open
 * its files.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, type RunningProcess, thisProcess } from '#infra/cli/hub/running-process.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';

/**
 * Resolves to the function that releases the lock. Rejects with a UsageError while another run has it. The
 * lock of a killed run is ignored.
 */
export async function lockData(dir: string): Promise<() => Promise<void>> {
  const file = join(dir, 'run.lock');
  const own = thisProcess();
  if (!(await take(file, own))) {
    const holder = await holderOf(file);
    if (holder && (await staysAlive(holder))) throw inUse(dir, holder);
    await rm(file, { force: true });
    const taken = await take(file, own);
    // Another run may have found the lock stale at the same moment and have removed ours.
    await sleep(50);
    const now = await holderOf(file);
    if (!taken || now?.pid !== own.pid) throw inUse(dir, now);
  }
  return async () => {
    if ((await holderOf(file))?.pid === own.pid) await rm(file, { force: true });
  };
}

const inUse = (dir: string, holder: RunningProcess | undefined): UsageError =>
  new UsageError(
    `--data ${dir} is in use by another run${holder ? ` (process ${holder.pid})` : ''}: end it, or give another folder`,
  );

/** Returns false if the file exists. */
async function take(file: string, own: RunningProcess): Promise<boolean> {
  try {
    await writeFile(file, JSON.stringify(own), { flag: 'wx' });
    return true;
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new UsageError(`--data cannot be used: ${(e as Error).message}`);
  }
}

async function holderOf(file: string): Promise<RunningProcess | undefined> {
  const read = async (): Promise<RunningProcess> =>
    JSON.parse(await readFile(file, 'utf8')) as RunningProcess;
  // Another run may have created the file without having written it yet.
  return read()
    .catch(() => sleep(50).then(read, () => undefined))
    .catch(() => undefined);
}

/** The process of a killed run may exist for a moment more. */
async function staysAlive(holder: RunningProcess): Promise<boolean> {
  for (let looks = 0; looks < 10; looks++) {
    if (!isRunning(holder)) return false;
    await sleep(50);
  }
  return isRunning(holder);
}
