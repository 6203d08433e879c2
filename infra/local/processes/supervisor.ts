/** Starts the processes of a local run, restarts a process that ends by itself, and stops them all. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { installation, programFile } from '#infra/installation.ts';
import { childEnv, type Report } from './child-process.ts';
import { parseLogLine } from './log-lines.ts';

export interface ChildSpec {
  readonly name: string;
  /** Path of the program's entry, below the root of the project. */
  readonly entry: string;
  readonly args?: readonly string[];
  readonly env: { readonly [name: string]: string };
}

export interface SupervisorHooks {
  /** A line that a child wrote. */
  onLine(child: string, line: string): void;
  /** A notice for the user at the terminal. */
  onNotice(text: string): void;
  /** A child cannot be kept running, so the run is over. */
  onFatal(text: string): void;
}

export interface Child {
  readonly name: string;
  readonly pid: number | undefined;
  readonly restarts: number;
  /** Its first report. */
  readonly ready: Promise<Report>;
  stop(graceMs: number): Promise<void>;
}

/** Number of early ends after which a child is not restarted any more. */
const maxEarlyExits = 5;
const settledMs = 10_000;

/** `nodeFlags`: of each child's Node. */
export function startChild(
  spec: ChildSpec,
  hooks: SupervisorHooks,
  nodeFlags: readonly string[] = [],
): Child {
  let child: ChildProcess;
  let stopping = false;
  let restarts = 0;
  let earlyExits = 0;
  let ports: readonly number[] | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastLines: string[] = [];
  const ready = Promise.withResolvers<Report>();

  function start(): void {
    const startedAt = Date.now();
    const lines: string[] = [];
    lastLines = lines;
    child = spawn(
      process.execPath,
      [
        ...nodeFlags,
        '--import',
        pathToFileURL(programFile('infra/local/processes/child-process.main.ts')).href,
        programFile(spec.entry),
        ...(spec.args ?? []),
      ],
      {
        cwd: installation.root,
        env: { ...spec.env, ...(ports && { [childEnv.ports]: ports.join() }) },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream as NodeJS.ReadableStream }).on('line', (line) => {
        if (lines.push(line) > 50) lines.shift();
        hooks.onLine(spec.name, line);
      });
    }
    child.on('message', (message: Report) => {
      ports ??= message.ports;
      ready.resolve(message);
    });
    // At 'close', unlike 'exit', the last lines have been read.
    child.on('close', (code, signal) => ended(code, signal, Date.now() - startedAt));
    child.on('error', (e) => hooks.onFatal(`${spec.name} cannot be started: ${e.message}`));
  }

  function ended(code: number | null, signal: NodeJS.Signals | null, livedMs: number): void {
    if (stopping) return;
    const how = signal ?? `exit code ${code}`;
    earlyExits = livedMs < settledMs ? earlyExits + 1 : 0;
    // A killed child is restarted without limit, because the fault is not its own.
    if (earlyExits >= maxEarlyExits && signal === null) {
      hooks.onFatal(`${spec.name} keeps ending (${how}): ${reason(lastLines) ?? 'it wrote no reason'}`);
      return;
    }
    const waitMs = Math.min(5_000, 100 * 2 ** Math.min(earlyExits, 6));
    hooks.onNotice(`${spec.name} ended (${how}); restart in ${waitMs / 1000} s`);
    restarts++;
    timer = setTimeout(start, waitMs);
  }

  start();
  return {
    name: spec.name,
    get pid() {
      return child.pid;
    },
    get restarts() {
      return restarts;
    },
    ready: ready.promise,
    async stop(graceMs) {
      stopping = true;
      clearTimeout(timer);
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(kill);
    },
  };
}

/** Returns the reason of a child's end: a log line marked fatal, or else the last error. */
function reason(lines: readonly string[]): string | undefined {
  const logged = lines.map(parseLogLine).filter((l) => l !== undefined);
  const fatal = logged.findLast((l) => l['fatal'] === true);
  if (fatal) return String(fatal['reason']);
  return lines.findLast((line) => /^\w*Error\b/.test(line)) ?? lines.findLast((line) => line.trim() !== '');
}
