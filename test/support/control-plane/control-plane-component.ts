import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import https from 'node:https';

export interface Component {
  /** Undefined while it is not running. */
  readonly pid: number | undefined;
  /**
   * Resolves when it answers. `flags` come after its own and win over them; they are kept for the next start.
   */
  start(flags?: readonly string[]): Promise<void>;
  /** SIGKILL by default: what it keeps is in etcd. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface ComponentSetup {
  readonly name: string;
  readonly binary: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** URL that answers 200 once it is ready. */
  readonly health: string;
  readonly token?: string;
  /** By default that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

export function controlPlaneComponent(setup: ComponentSetup): Component {
  let child: ChildProcess | undefined;
  let flags: readonly string[] = [];

  return {
    get pid() {
      return child?.pid;
    },
    async start(given) {
      if (child) throw new Error(`${setup.name} is running already`);
      if (given) flags = given;
      const log = openSync(setup.logFile, 'a');
      const started = spawn(setup.binary, [setup.name, ...setup.args, ...flags], {
        stdio: ['ignore', log, log],
        ...(setup.env && { env: setup.env }),
      });
      closeSync(log);
      child = started;
      started.once('exit', () => {
        if (child === started) child = undefined;
        process.off('exit', kill);
      });
      // A test run that is broken off must leave nothing behind.
      const kill = (): boolean => started.kill('SIGKILL');
      process.once('exit', kill);
      await untilHealthy(
        setup,
        () => started.exitCode === null && started.signalCode === null && started.pid !== undefined,
      );
    },
    async stop(signal = 'SIGKILL') {
      const stopping = child;
      if (!stopping) return;
      const gone = new Promise<void>((resolve) => stopping.once('exit', () => resolve()));
      stopping.kill(signal);
      await gone;
    },
  };
}

async function untilHealthy(setup: ComponentSetup, running: () => boolean): Promise<void> {
  const limit = Date.now() + 60_000;
  while (!(await answersOk(setup))) {
    if (!running() || Date.now() > limit) {
      const end = (await readFile(setup.logFile, 'utf8').catch(() => '')).split('\n').slice(-15).join('\n');
      throw new Error(
        `${setup.name} ${running() ? 'did not become ready' : 'ended'}; the end of its log:\n${end}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function answersOk({ health, token }: ComponentSetup): Promise<boolean> {
  if (health.startsWith('http:'))
    return fetch(health).then(
      (r) => r.ok,
      () => false,
    );
  return new Promise((resolve) => {
    // Its certificate is made at its first start, so there is nothing yet to check it by.
    const options = {
      agent: false,
      rejectUnauthorized: false,
      timeout: 5_000,
      ...(token && { headers: { authorization: `Bearer ${token}` } }),
    };
    const request = https.get(health, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}
