/** One run at a time on a data folder: table and queues hold its files open and would end with errors of their own. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '#infra/cli/usage-error.ts';

interface Holder {
  readonly pid: number;
  /** When the process began, in the system's own unit; undefined where the system does not provide it. */
  readonly began: string | undefined;
}

/** Resolves with what lets go of it. Rejects with a UsageError while another run holds it; a lock whose run was killed counts for nothing. */
export async function lockData(dir: string): Promise<() => Promise<void>> {
  const file = join(dir, 'run.lock');
  const own: Holder = { pid: process.pid, began: await beginOf(process.pid) };
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

const inUse = (dir: string, holder: Holder | undefined): UsageError =>
  new UsageError(`--data ${dir} is in use by another run${holder ? ` (process ${holder.pid})` : ''}: end it, or give another folder`);

/** False when there is one. */
async function take(file: string, own: Holder): Promise<boolean> {
  try {
    await writeFile(file, JSON.stringify(own), { flag: 'wx' });
    return true;
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new UsageError(`--data cannot be used: ${(e as Error).message}`);
  }
}

async function holderOf(file: string): Promise<Holder | undefined> {
  const read = async (): Promise<Holder> => JSON.parse(await readFile(file, 'utf8')) as Holder;
  // One that has just been made may not be written yet.
  return read()
    .catch(() => sleep(50).then(read, () => undefined))
    .catch(() => undefined);
}

/** A run that was killed is there for a moment more. */
async function staysAlive(holder: Holder): Promise<boolean> {
  for (let looks = 0; looks < 10; looks++) {
    if (!(await isAlive(holder))) return false;
    await sleep(50);
  }
  return isAlive(holder);
}

async function isAlive({ pid, began }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  // The number of a process that has gone may be another one's by now.
  if (began === undefined) return true;
  const [state, now] = await statOf(pid);
  // Z: it has ended, and no process has asked how, as in a container without an init.
  return began === now && state !== 'Z';
}

const beginOf = async (pid: number): Promise<string | undefined> => (await statOf(pid))[1];

/** Linux: fields 3 (state) and 22 (begin) of stat, which come after a name in brackets that may hold anything. */
async function statOf(pid: number): Promise<readonly [string | undefined, string | undefined]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [fields[0], fields[19]];
}
