import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const controlPlane = fileURLToPath(new URL('../control-plane/', import.meta.url));

/**
 * Random clusters and what the upstream controllers make of them, in virtual time, as vectors in `file`; needs Go. A seed makes the same
 * cluster each time. Ends the process when that fails.
 */
export async function recordVectors(file: string, seeds: number, from: number): Promise<void> {
  const flags = ['-out', resolve(file), '-seeds', String(seeds), '-from', String(from)];
  const go = spawn('go', ['test', './record', '-count=1', '-timeout=0', '-v', '-run=TestRecord', '-args', ...flags], {
    cwd: controlPlane,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(go, 'exit').catch((cause) => {
    console.error(`recording needs Go (https://go.dev/dl): ${cause.message}`);
    return [1];
  });
  if (code !== 0) process.exit(1);
}
