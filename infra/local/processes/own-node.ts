/**
 * A local run needs Node 22.19, because node:sqlite keeps its queues. On an older Node the run takes a newer
 * one from the npm registry, which has it for some platforms. npm caches it, so it is fetched once.
 * As a dependency it would add 190 MB to every installation, and hide the user's `node` from npm scripts.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { promisify } from 'node:util';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';

/** infra/node/package.json has the same version, for this checkout. */
export const ownNode = '24.21.0';
const platforms: readonly string[] = ['linux-x64', 'linux-arm64'];

export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 19);
}

/** Resolves to the Node program of a local run's processes, or undefined for this program. */
export async function nodeForLocalRun(
  version: string,
  platform: string,
  say: (line: string) => void,
): Promise<string | undefined> {
  if (isNewEnough(version)) return undefined;
  if (!platforms.includes(platform))
    throw new UsageError(`Node ${version} is too old for a local run: please use Node 22.19 or newer`);
  const name = `node-${platform}@${ownNode}`;
  say(
    `a local run needs Node 22.19 or newer, and this is ${version}: taking Node ${ownNode} from npm (${name}, fetched once)`,
  );
  try {
    const args = ['exec', '--yes', `--package=${name}`, '--', 'node', '-p', 'process.execPath'];
    const { stdout } = await promisify(execFile)('npm', args);
    return stdout.trim().split('\n').at(-1);
  } catch (e) {
    throw new UsageError(
      `Node ${ownNode} cannot be had from npm: please use Node 22.19 or newer. ${(e as Error).message.trim().split('\n').at(-1)}`,
    );
  }
}

/** Runs the same command by another Node and forwards signals to it. Resolves to its exit code. */
export async function runWith(node: string, args: readonly string[]): Promise<number> {
  const child = spawn(node, [...args], { stdio: 'inherit' });
  // A Ctrl-C reaches the child by itself. The child exits once its own children have ended.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + constants.signals[signal as NodeJS.Signals];
}
