/**
 * `npm run bench -- explain`: the time of an answer without a hub, about a Service of 5,000 pods of 6 kB each, by
 * the embedded API server in a process of its own. Fails above two seconds.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { explainLive } from '#infra/cli/ask/live/explain-live.ts';
import { liveCluster } from '#infra/cli/ask/live/live-cluster.ts';
import { mcsVersions } from '#shared/clusters/api/mcs-versions.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import { median } from './median.ts';

const mostMs = 2_000;

const server = spawn(process.execPath, ['test/bench/explain/explained-cluster.main.ts'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [url] = (await once(server.stdout, 'data')) as [Buffer];
const transport = mcsVersions(httpTransport({ server: String(url).trim() }, { timeoutMs: 30_000 }));
const samples: { readonly ms: number; readonly cpuMs: number }[] = [];
let summary = '';
for (let i = 0; i < 7; i++) {
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  const question = { context: 'bench', namespace: 'shop', name: 'web', pod: undefined };
  ({ summary } = await explainLive(liveCluster(transport), question));
  const { user, system } = process.cpuUsage(before);
  samples.push({ ms: performance.now() - startedAt, cpuMs: (user + system) / 1000 });
}
transport.close();
server.kill();
const ms = median(samples.map((s) => s.ms));
console.log(summary);
console.log(
  `${Math.round(ms)} ms for an answer, of which ${Math.round(median(samples.map((s) => s.cpuMs)))} ms of processor time`,
);
if (ms > mostMs) {
  console.error(`more than ${mostMs} ms`);
  process.exitCode = 1;
}
