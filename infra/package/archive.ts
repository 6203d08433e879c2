import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const program = { none: [], gzip: ['-I', 'gzip -n'] } as const;

/**
 * Packs `names` of `folder` into `file`. The same files give the same archive: no times, owners, order of the
 * disk or umask.
 */
export async function archive(
  file: string,
  folder: string,
  names: readonly string[],
  compression: keyof typeof program = 'gzip',
): Promise<void> {
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=a+rX,go-w'];
  await run('tar', [...same, ...program[compression], '-cf', file, '-C', folder, ...names]);
}

export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

export const sha256Of = async (file: string): Promise<string> => sha256(await readFile(file));
