import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Environment } from '#test/support/aws/local-cloud.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface CommandOptions {
  readonly env?: Environment;
  readonly input?: string;
  /** By default the root of this tree. */
  readonly cwd?: string;
  readonly timeoutMs?: number;
}

/**
 * Resolves to a command's output. Rejects with the end of the output if the command fails or takes too long.
 */
export async function run(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<{ stdout: string; stderr: string }> {
  const { env, input = '', cwd = root, timeoutMs = 5 * 60_000 } = options;
  const child = spawn(command, args, { cwd, stdio: 'pipe', detached: true, ...(env && { env: { ...env } }) });
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The group is gone already.
    }
  };
  process.once('exit', kill);
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text));
  // A command that ends without reading its input is reported by its exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    kill();
  }, timeoutMs);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (code === 0) return written;
    const why = late ? `took longer than ${timeoutMs / 1000} s` : `failed (${signal ?? `exit code ${code}`})`;
    const end = `${written.stdout}\n${written.stderr}`.trim().split('\n').slice(-40).join('\n');
    throw new Error(`${command} ${args.slice(0, 6).join(' ')} ${why}:\n${end}`);
  } finally {
    clearTimeout(timer);
    process.off('exit', kill);
  }
}

/** Resolves to what `look` finds; rejects with what was last wrong. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  timeoutMs = 300_000,
): Promise<T> {
  const limit = Date.now() + timeoutMs;
  for (;;) {
    let wrong = 'not yet';
    try {
      const found = await look();
      if (found) return found;
    } catch (e) {
      wrong = (e as Error).message;
    }
    if (Date.now() > limit) throw new Error(`${what}: not within ${timeoutMs / 1000} s (${wrong})`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
