import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** `npm start` as a person would run it, in a process group of its own, as a terminal would make one. */
export interface LocalRun {
  /** Also the id of its process group. */
  readonly pid: number;
  /** Output of the run so far, of both streams. */
  readonly lines: readonly string[];
  /** The first line that matches, now or later; rejects when the run ends without. */
  line(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  /** Sends Ctrl-C. Resolves to the exit code. Processes that remain after 15 seconds are killed. */
  stop(): Promise<number | null>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** `folder`: a checkout of the project, by default this one. */
export function startLocalRun(
  args: readonly string[] = [],
  env: { readonly [name: string]: string } = {},
  folder = root,
): LocalRun {
  const child = spawn('npm', ['start', '--', ...args], {
    cwd: folder,
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      tell();
    });
  }
  let over = false;
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      over = true;
      tell();
      process.off('exit', kill);
      resolve(code);
    });
  });
  const signal = (name: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // The group is gone already.
    }
  };
  const kill = (): void => signal('SIGKILL');
  // A test run that is broken off must leave nothing behind.
  process.once('exit', kill);

  return {
    pid: child.pid ?? -1,
    lines,
    line: (pattern, timeoutMs = 60_000) =>
      new Promise((resolve, reject) => {
        const finish = (act: () => void): void => {
          clearTimeout(timer);
          listeners.delete(look);
          act();
        };
        const complain = (what: string): Error =>
          new Error(`npm start ${what}; its last lines:\n${lines.slice(-20).join('\n')}`);
        const timer = setTimeout(
          () => finish(() => reject(complain(`has not written ${pattern} in ${timeoutMs / 1000} s`))),
          timeoutMs,
        );
        let seen = 0;
        const look = (): void => {
          for (; seen < lines.length; seen++) {
            const match = lines[seen]?.match(pattern);
            if (!match) continue;
            finish(() => resolve(match));
            return;
          }
          if (over) finish(() => reject(complain(`ended without writing ${pattern}`)));
        };
        listeners.add(look);
        look();
      }),
    async stop() {
      if (over) return ended;
      signal('SIGINT');
      const impatient = setTimeout(kill, 15_000);
      const code = await ended;
      clearTimeout(impatient);
      return code;
    },
  };
}
