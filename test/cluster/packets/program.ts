/** A program in a network namespace, whose lines are read. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Program {
  readonly pid: number | undefined;
  /** Standard error so far. */
  readonly said: readonly string[];
  readonly ended: Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** `namespace`: undefined is the outer one. */
export function startProgram(
  namespace: string | undefined,
  command: readonly string[],
  onLine: (line: string) => void = () => {},
): Program {
  const [file, ...args] = namespace === undefined ? command : ['ip', 'netns', 'exec', namespace, ...command];
  const child: ChildProcess = spawn(file as string, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  if (child.stdout) createInterface({ input: child.stdout }).on('line', onLine);
  if (child.stderr) createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  const ended = new Promise<void>((resolve) => {
    child.once('error', (e) => {
      said.push(e.message);
      resolve();
    });
    child.once('close', () => resolve());
  });
  return {
    pid: child.pid,
    said,
    ended,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const impatient = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(impatient);
    },
  };
}
