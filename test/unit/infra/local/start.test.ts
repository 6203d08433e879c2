/** `fleet-endpoints start` as its user meets it: the program, its lines, its exit code. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { lockData } from '#infra/local/processes/data-lock.ts';

interface Started {
  readonly process: ChildProcess;
  readonly out: () => string;
  readonly ended: Promise<number | null>;
}

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** In a process group of its own, as a terminal's foreground job is. */
function start(args: readonly string[], env: { readonly [name: string]: string } = {}): Started {
  const child = spawn(process.execPath, ['infra/cli/command/fleet-endpoints.main.ts', 'start', ...args], {
    env: { ...process.env, NODE_NO_WARNINGS: '1', PORT: '0', ...env },
    detached: true,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  cleanUps.push(() => child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'));
  return { process: child, out: () => text, ended };
}

async function kubeconfig(server: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'fleet-endpoints-test-'));
  cleanUps.push(() => rm(dir, { recursive: true }));
  const file = join(dir, 'kubeconfig');
  const config = {
    'current-context': 'dev',
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'secret' } }],
    contexts: [{ name: 'dev', context: { cluster: 'c', user: 'u' } }],
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

it('start runs until Ctrl-C: it gets ready, serves health and metrics, and ends with all its processes', async () => {
  const run = start([]);
  await expect.poll(run.out).toMatch(/^ready: demo-1 \(active\)/m);
  const url = /console at (http:\S+)/.exec(run.out())?.[1];
  const health = (await (await fetch(`${url}/healthz`)).json()) as {
    ready: boolean;
    processes: { name: string; pid: number }[];
  };
  expect(health.ready).toBe(true);
  expect(health.processes.map((p) => p.name)).toEqual([
    'table',
    'queues',
    'clusters',
    'ingest',
    'sync',
    'sweep',
    'relay demo-1',
  ]);
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  await expect.poll(metrics).toMatch(/^fleet_endpoints_syncs_written_total\{cluster="demo-1"\} [1-9]/m);

  process.kill(-(run.process.pid as number), 'SIGINT');
  expect(await run.ended).toBe(0);
  for (const { pid } of health.processes) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(run.out()).not.toMatch(/error/i);
});

// A missing right (403) is reported in the same way: read-rights.test.ts.
it('an API server that answers 401 Unauthorized is one clear line and exit code 1', async () => {
  const [code, reason] = [401, 'Unauthorized'];
  const server = createServer((_, response) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code, message: reason }),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => server.close());
  const run = start([
    '--kubeconfig',
    await kubeconfig(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  ]);
  expect(await run.ended).toBe(1);
  expect(run.out()).toMatch(
    /^error: cluster dev: the API server does not accept these credentials \(401 Unauthorized, to get namespaces\)$/m,
  );
  expect(run.out()).not.toMatch(/^\s+at /m);
});

it('a missing kubeconfig, an unknown context, an unknown option, a port and a data folder in use are reported at once', async () => {
  const busy = createTcpServer().listen(0, '127.0.0.1');
  await once(busy, 'listening');
  cleanUps.push(() => busy.close());
  const port = String((busy.address() as AddressInfo).port);
  const file = await kubeconfig('http://127.0.0.1:1');
  const data = join(file, '..');
  const unlock = await lockData(data);
  const runs = [
    start(['--kubeconfig', '/does/not/exist']),
    start(['--kubeconfig', file, '--context', 'prod']),
    start(['--fast']),
    start([], { PORT: port }),
    start(['--data', data]),
  ];
  expect(await Promise.all(runs.map((r) => r.ended))).toEqual([1, 1, 2, 1, 1]);
  await unlock();
  expect(runs.map((r) => r.out())).toEqual([
    expect.stringMatching(/^error: cannot read kubeconfig \/does\/not\/exist: no such file\n$/),
    expect.stringMatching(/^error: kubeconfig \S+ has no context prod; it has dev\n$/),
    expect.stringMatching(/^error: unknown option '--fast'$/m),
    expect.stringMatching(new RegExp(`^error: port ${port} is in use: .*\n$`)),
    `error: --data ${data} is in use by another run (process ${process.pid}): end it, or give another folder\n`,
  ]);
});
