import { randomUUID } from 'node:crypto';
import { access, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, type RunningProcess, thisProcess } from '#infra/cli/hub/running-process.ts';

const lookEveryMs = 250;

/**
 * Runs `make` while no other run has the same path, in this process or another: suites start several programs
 * at once, and each needs the same build. `make` begins with a look whether the former run has made the
 * thing. A lock whose process has ended is taken over.
 */
export async function onlyOnce<T>(path: string, make: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  await mkdir(dirname(path), { recursive: true });
  while (!(await isTaken(lock))) {
    if (await isAbandoned(lock)) await takeAway(lock);
    else await sleep(lookEveryMs);
  }
  try {
    return await make();
  } finally {
    await rm(lock, { force: true });
  }
}

/**
 * Resolves to true if this run has the lock now. A link appears with its content, so that no reader finds
 * half a lock.
 */
async function isTaken(lock: string): Promise<boolean> {
  const mine = `${lock}.${randomUUID()}`;
  await writeFile(mine, JSON.stringify(thisProcess()));
  try {
    await link(mine, lock);
    return true;
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw e;
  } finally {
    await rm(mine);
  }
}

async function isAbandoned(lock: string): Promise<boolean> {
  const text = await readFile(lock, 'utf8').catch(() => undefined);
  return text !== undefined && !isRunning(JSON.parse(text) as RunningProcess);
}

/** One at a time, and after another look: a lock that was taken over since must stay. */
async function takeAway(lock: string): Promise<void> {
  const taking = `${lock}.taking`;
  if (!(await isTaken(taking))) return sleep(lookEveryMs);
  try {
    if (await isAbandoned(lock)) await rm(lock, { force: true });
  } finally {
    await rm(taking, { force: true });
  }
}

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
