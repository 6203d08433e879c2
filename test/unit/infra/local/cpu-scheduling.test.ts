import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { scheduleAsBatch } from '#infra/local/processes/cpu-scheduling.ts';

const batch = 3;
const normal = 0;

/** Field 41 of /proc/PID/stat; the second is the name in brackets. */
async function policyOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38]);
}

it.runIf(process.platform === 'linux')(
  'a local run is for batches where there is a chrt that may, and as it was where there is none',
  async () => {
    const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 60_000)']);
    onTestFinished(() => {
      child.kill('SIGKILL');
      vi.unstubAllEnvs();
    });
    const path = process.env['PATH'];
    vi.stubEnv('PATH', '/nowhere');
    expect(await scheduleAsBatch(child.pid)).toBe(false);
    expect(await policyOf(child.pid)).toBe(normal);
    vi.stubEnv('PATH', path);
    const may = await scheduleAsBatch(child.pid);
    expect(await policyOf(child.pid)).toBe(may ? batch : normal);
  },
);
