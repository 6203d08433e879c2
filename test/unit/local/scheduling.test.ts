import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { scheduleAsBatch } from '#infra/local/scheduling.ts';

const batch = 3;
const normal = 0;

describe.runIf(process.platform === 'linux')('scheduling of a local run', () => {
  const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 60_000)']);
  afterEach(() => {
    child.kill('SIGKILL');
    vi.unstubAllEnvs();
  });

  /** Field 41 of /proc/PID/stat; the second is the name in brackets. */
  async function policy(): Promise<number> {
    const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38]);
  }

  it('is for batches where there is a chrt that may, and as it was where there is none', async () => {
    const path = process.env['PATH'];
    vi.stubEnv('PATH', '/nowhere');
    expect(await scheduleAsBatch(child.pid)).toBe(false);
    expect(await policy()).toBe(normal);
    vi.stubEnv('PATH', path);
    const may = await scheduleAsBatch(child.pid);
    expect(await policy()).toBe(may ? batch : normal);
  });
});
