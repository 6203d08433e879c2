/** The package, packed and installed into an empty folder, and the commands that its user types there. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { onlyOnce } from '#test/support/only-once.ts';

const execute = promisify(execFile);

/** Without the folders in which npm's scripts find this checkout's own Node: a user has the machine's. */
const path = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);
const own = Object.entries(process.env).filter(
  ([name]) =>
    !/^(npm_(?!config_(registry|cache|userconfig))|NODE_(?!EXTRA_CA_CERTS)|VITEST|INIT_CWD|TABLE_NAME|HUB|PORT)/.test(
      name,
    ),
);
export const userEnv = { ...Object.fromEntries(own), PATH: path, NO_COLOR: '1' };

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Installed {
  readonly folder: string;
  readonly tarball: string;
  run(command: string, ...args: readonly string[]): Promise<Ran>;
  /** Until `pattern` is in what it prints; then Ctrl-C is for the caller to press. */
  start(args: readonly string[]): Promise<Running>;
  remove(): Promise<void>;
}

export interface Running {
  line(pattern: RegExp, withinMs: number): Promise<RegExpMatchArray>;
  /** Ctrl-C. Resolves to the exit code. */
  interrupt(): Promise<number | null>;
}

/**
 * `npm pack`, into a folder of its own. One at a time, because each makes its programs in the tree's dist and
 * deletes them.
 */
export async function pack(into: string): Promise<string> {
  await mkdir(into, { recursive: true });
  await onlyOnce(join('node_modules', '.pack'), () =>
    execute('npm', ['pack', '--pack-destination', into], { maxBuffer: 2 ** 26 }),
  );
  const [tarball] = (await readdir(into)).filter((file) => file.endsWith('.tgz'));
  if (!tarball) throw new Error(`npm pack left no archive in ${into}`);
  return join(into, tarball);
}

export async function install(
  packages: readonly string[],
  options: readonly string[] = [],
): Promise<Installed> {
  const root = await mkdtemp(join(tmpdir(), 'fleet-endpoints-package-'));
  const tarball = await pack(join(root, 'packed'));
  const folder = join(root, 'user');
  await mkdir(folder);
  const run = async (command: string, ...args: readonly string[]): Promise<Ran> =>
    execute(command, [...args], { cwd: folder, env: userEnv, maxBuffer: 2 ** 26 }).then(
      ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
      (e: { code: number; stdout: string; stderr: string }) => ({
        code: e.code,
        out: e.stdout,
        err: e.stderr,
      }),
    );
  const installed = await run('npm', 'install', '--no-audit', '--no-fund', ...options, tarball, ...packages);
  if (installed.code !== 0) throw new Error(`npm install failed: ${installed.err}`);
  return {
    folder,
    tarball,
    run,
    start: async (args) => started(folder, args),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/**
 * Starts the program of `npx fleet-endpoints` in its own process group, like a terminal. npx itself is not
 * used, because it ends by a Ctrl-C independent of the command's exit code.
 */
function started(folder: string, args: readonly string[]): Running {
  const child = spawn(join(folder, 'node_modules/.bin/fleet-endpoints'), [...args], {
    cwd: folder,
    env: { ...userEnv, PORT: '0' },
    detached: true,
  });
  const lines: string[] = [];
  let changed = Promise.withResolvers<void>();
  const ended = once(child, 'close').then(([code]) => {
    changed.resolve();
    return code as number | null;
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      changed.resolve();
      changed = Promise.withResolvers();
    });
  }
  const stop = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid as number), signal);
    } catch {
      // The group is gone already.
    }
  };
  process.once('exit', () => stop('SIGKILL'));
  return {
    async line(pattern, withinMs) {
      const until = Date.now() + withinMs;
      for (let seen = 0; ; ) {
        for (; seen < lines.length; seen++) {
          const match = lines[seen]?.match(pattern);
          if (match) return match;
        }
        if (Date.now() > until || child.exitCode !== null)
          throw new Error(`no line ${pattern}; there are:\n${lines.join('\n')}`);
        await Promise.race([changed.promise, new Promise((resolve) => setTimeout(resolve, 500).unref())]);
      }
    },
    async interrupt() {
      stop('SIGINT');
      const impatient = setTimeout(() => stop('SIGKILL'), 20_000);
      const code = await ended;
      clearTimeout(impatient);
      return code;
    },
  };
}
