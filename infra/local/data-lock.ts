/** One run at a time on a data folder: table and queues hold its files open and would end with errors of their own. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, type RunningProcess, thisProcess } from '#infra/cli/running-process.ts';
import { UsageError } from '#infra/cli/usage-error.ts';

/** Resolves with what lets go of it. Rejects with a UsageError while another run holds it; a lock whose run was killed counts for nothing. */
export async function lockData(dir: string): Promise<() => Promise<void>> {
  const file = join(dir, 'run.lock');
  const own = thisProcess();
  if (!(await take(file, own))) {
    const holder = await holderOf(file);
    if (holder && (await staysAlive(holder))) throw inUse(dir, holder);
    await rm(file, { force: true });
    const taken = await take(file, own);
    // Another run may have found it stale at the same moment, and have removed ours.
    await sleep(50);
    const now = await holderOf(file);
    if (!taken || now?.pid !== own.pid) throw inUse(dir, now);
  }
  return async () => {
    if ((await holderOf(file))?.pid === own.pid) await rm(file, { force: true });
  };
}

const inUse = (dir: string, holder: RunningProcess | undefined): UsageError =>
  new UsageError(`--data ${dir} is in use by another run${holder ? ` (process ${holder.pid})` : ''}: end it, or give another folder`);

/** False when there is one. */
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
  const read = async (): Promise<RunningProcess> => JSON.parse(await readFile(file, 'utf8')) as RunningProcess;
  // One that has just been made may not be written yet.
  return read()
    .catch(() => sleep(50).then(read, () => undefined))
    .catch(() => undefined);
}

/** A run that was killed is there for a moment more. */
async function staysAlive(holder: RunningProcess): Promise<boolean> {
  for (let looks = 0; looks < 10; looks++) {
    if (!isAlive(holder)) return false;
    await sleep(50);
  }
  return isAlive(holder);
}
