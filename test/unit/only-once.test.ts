/**
 * Suites that start at once from empty caches build each thing once: the others wait, also in other
 * processes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { exists, onlyOnce } from '#test/support/only-once.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-once-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/**
 * Makes the thing unless it is there, as the builders of test/support do, and notes when a making begins and
 * ends.
 */
const build = (path: string, notes: string): Promise<void> =>
  onlyOnce(path, async () => {
    if (await exists(path)) return;
    await appendFile(notes, 'begin ');
    await sleep(50);
    await writeFile(path, 'made');
    await appendFile(notes, 'end ');
  });

it('runs that begin at once make a thing once, and leave no lock', async () => {
  const [path, notes] = [join(folder, 'thing'), join(folder, 'notes')];
  await Promise.all(Array.from({ length: 5 }, () => build(path, notes)));
  expect(await readFile(notes, 'utf8')).toBe('begin end ');
  expect(await readdir(folder)).toEqual(['notes', 'thing']);
});

it('the next run goes on after one that failed', async () => {
  const path = join(folder, 'thing');
  await expect(onlyOnce(path, () => Promise.reject(new Error('no Go')))).rejects.toThrow('no Go');
  await build(path, join(folder, 'notes'));
  expect(await readFile(path, 'utf8')).toBe('made');
});

it('a lock whose process was killed is taken over, by one of those that wait', async () => {
  const [path, notes] = [join(folder, 'thing'), join(folder, 'notes')];
  const module = fileURLToPath(new URL('../support/only-once.ts', import.meta.url));
  const program = `import { exists, onlyOnce } from ${JSON.stringify(module)}; await onlyOnce(${JSON.stringify(path)}, () => { console.log('locked'); return new Promise(() => setInterval(() => {}, 1000)); });`;
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const waiting = Promise.all([build(path, notes), build(path, notes)]);
  await sleep(20);
  await expect(access(path)).rejects.toThrow();
  holder.kill('SIGKILL');
  await waiting;
  expect(await readFile(notes, 'utf8')).toBe('begin end ');
});
