import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const controlPlane = fileURLToPath(new URL('../../cluster/control-plane/', import.meta.url));

/**
 * Records vectors of random clusters with the outputs of the upstream controllers, in virtual time, to
 * `file`. Needs Go. A seed creates the same cluster each time. Throws if the recording fails, after Go has
 * printed the error.
 */
export async function recordVectors(file: string, seeds: number, from: number): Promise<void> {
  const flags = ['-out', resolve(file), '-seeds', String(seeds), '-from', String(from)];
  const go = spawn(
    'go',
    ['test', './record', '-count=1', '-timeout=0', '-v', '-run=TestRecord', '-args', ...flags],
    {
      cwd: controlPlane,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const [code] = await once(go, 'exit').catch((cause: Error) => {
    throw new Error(`recording needs Go (https://go.dev/dl): ${cause.message}`, { cause });
  });
  if (code !== 0) throw new Error('nothing recorded');
}
