import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const controlPlane = fileURLToPath(new URL('../control-plane/', import.meta.url));

/**
 * Random clusters and what the upstream controllers make of them, in virtual time, as vectors in `file`; needs Go. A seed makes the same
 * cluster each time. Throws when that fails; Go has said why then.
 */
export async function recordVectors(file: string, seeds: number, from: number): Promise<void> {
  const flags = ['-out', resolve(file), '-seeds', String(seeds), '-from', String(from)];
  const go = spawn('go', ['test', './record', '-count=1', '-timeout=0', '-v', '-run=TestRecord', '-args', ...flags], {
    cwd: controlPlane,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(go, 'exit').catch((cause: Error) => {
    throw new Error(`recording needs Go (https://go.dev/dl): ${cause.message}`, { cause });
  });
  if (code !== 0) throw new Error('nothing recorded');
}
