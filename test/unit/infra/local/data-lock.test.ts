import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { lockData } from '#infra/local/processes/data-lock.ts';

let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fleet-endpoints-test-'));
  file = join(dir, 'run.lock');
});
afterEach(() => rm(dir, { recursive: true }));

const holder = async () => JSON.parse(await readFile(file, 'utf8')) as { pid: number; began?: string };

it('a folder is used by one run at a time, and by the next when that one has ended', async () => {
  const unlock = await lockData(dir);
  const second = lockData(dir);
  await expect(second).rejects.toThrow(UsageError);
  await expect(second).rejects.toThrow(`--data ${dir} is in use by another run (process ${process.pid})`);
  await unlock();
  expect(await readdir(dir)).toEqual([]);
  await (await lockData(dir))();
});

it('the lock of a run that was killed counts for nothing', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  const ended = once(child, 'exit');
  await ended;
  await writeFile(file, JSON.stringify({ pid: child.pid }));
  const unlock = await lockData(dir);
  expect((await holder()).pid).toBe(process.pid);
  await unlock();
});

it.runIf(process.platform === 'linux')(
  'a lock whose process number is another process’s by now does not keep the folder',
  async () => {
    await writeFile(file, JSON.stringify({ pid: process.ppid, began: '1' }));
    await (await lockData(dir))();
  },
);

it('a file that is no lock does not keep the folder', async () => {
  await writeFile(file, 'half of');
  await (await lockData(dir))();
});
