/**
 * `npm run bench -- noise`: two embedded clusters on one local run. In the quiet one a pod's readiness flips
 * five times a second; how long until its slice shows it, alone and while in the other one 20 pods flip a
 * second, and as many as its API server takes. It never fails for being slow.
 */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalAddresses, localHubFile } from '#infra/cli/hub/connect-hub.ts';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { type Api, connectApi } from '#test/e2e/api.ts';
import { startLocalRun } from '#test/support/local-run.ts';

const namespace = 'noise';
const seconds = 20;

const run = startLocalRun(['--clusters', '2']);
try {
  const [, consoleUrl = ''] = await run.line(/console at (http\S+)/);
  await run.line(/^ready/, 120_000);
  const connections = JSON.parse(await readFile(await connectionsFileOf(consoleUrl), 'utf8')) as {
    readonly [id: string]: Connection;
  };
  const [quiet, noisy] = Object.values(connections).map(connectApi);
  if (!quiet || !noisy) throw new Error('two clusters are needed');
  const quietPods = await fill(quiet, 1, 5);
  const noisyPods = await fill(noisy, 20, 10);
  await sleep(5_000);

  const alone = await flips(quiet, quietPods, 5);
  tell('quiet cluster alone', alone);
  for (const rate of [20, Number.POSITIVE_INFINITY]) {
    const [beside, flood] = await Promise.all([flips(quiet, quietPods, 5), flips(noisy, noisyPods, rate)]);
    tell('quiet cluster beside the flood', beside);
    tell('the flood itself', flood);
    const [p50, p99] = [0.5, 0.99].map((share) => (at(beside, share) / at(alone, share)).toFixed(2));
    console.log(`quiet cluster's p50 × ${p50}, p99 × ${p99}`);
  }
  quiet.close();
  noisy.close();
} finally {
  await run.stop();
}

async function connectionsFileOf(consoleUrl: string): Promise<string> {
  const folder = dirname(localHubFile(0));
  for (const file of await readdir(folder)) {
    const addresses = JSON.parse(
      await readFile(join(folder, file), 'utf8').catch(() => '{}'),
    ) as LocalAddresses;
    if (addresses.consoleUrl === consoleUrl) return addresses.connectionsFile;
  }
  throw new Error(`no run has left the address ${consoleUrl}`);
}

function ready(i: number, is: boolean) {
  const ip = `10.9.${i >> 8}.${i & 255}`;
  return {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [
      { type: 'Ready', status: is ? 'True' : 'False', lastTransitionTime: new Date().toISOString() },
    ],
  };
}

async function fill(api: Api, services: number, podsEach: number): Promise<readonly string[]> {
  await api.create('Namespace', '', { metadata: { name: namespace } });
  await api.create('Node', '', { metadata: { name: 'noise-node' } });
  const names: string[] = [];
  for (let s = 0; s < services; s++) {
    const app = `s${s}`;
    await api.create('Service', namespace, {
      metadata: { name: app },
      spec: { clusterIP: 'None', selector: { app }, ports: [{ port: 80 }] },
    });
    for (let p = 0; p < podsEach; p++) {
      const name = `${app}-p${p}`;
      const spec = { nodeName: 'noise-node', containers: [{ name: 'c', image: 'i' }] };
      await api.create('Pod', namespace, { metadata: { name, labels: { app } }, spec });
      await api.patchStatus('Pod', namespace, name, { status: ready(names.length, true) });
      names.push(name);
    }
  }
  return names;
}

/** Ms until each flip showed in a slice. A pod flips again only when its last flip has shown. */
async function flips(api: Api, pods: readonly string[], rate: number): Promise<readonly number[]> {
  const took: number[] = [];
  const waiting = new Map<string, { readonly is: boolean; readonly since: number }>();
  const state = new Map<string, boolean>();
  const over = new AbortController();
  const { resourceVersion, items } = await api.list('EndpointSlice', namespace);
  for (const e of items.flatMap((s) => s.endpoints ?? []))
    state.set(e.targetRef?.name ?? '', e.conditions?.ready !== false);
  const watching = (async () => {
    for await (const { object } of api.watch('EndpointSlice', resourceVersion, over.signal)) {
      for (const e of object.endpoints ?? []) {
        const name = e.targetRef?.name ?? '';
        const flip = waiting.get(name);
        if (flip === undefined || (e.conditions?.ready !== false) !== flip.is) continue;
        took.push(performance.now() - flip.since);
        waiting.delete(name);
      }
    }
  })().catch(() => {});
  const end = performance.now() + seconds * 1000;
  const flipping = async (): Promise<void> => {
    while (performance.now() < end) {
      const name = pods[Math.floor(Math.random() * pods.length)] as string;
      if (!waiting.has(name)) {
        const is = !(state.get(name) ?? true);
        state.set(name, is);
        waiting.set(name, { is, since: performance.now() });
        await api.patchStatus('Pod', namespace, name, { status: ready(pods.indexOf(name), is) });
      } else if (rate === Number.POSITIVE_INFINITY) await sleep(2);
      if (rate !== Number.POSITIVE_INFINITY) await sleep(1000 / rate);
    }
  };
  await Promise.all(Array.from({ length: rate === Number.POSITIVE_INFINITY ? 16 : 1 }, flipping));
  for (const until = performance.now() + 30_000; waiting.size > 0 && performance.now() < until; )
    await sleep(50);
  if (waiting.size > 0) console.log(`${waiting.size} flips have not shown`);
  over.abort();
  await watching;
  return took.sort((a, b) => a - b);
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function tell(what: string, took: readonly number[]): void {
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => Math.round(at(took, share)));
  console.log(
    `${what}: ${took.length} flips (${(took.length / seconds).toFixed(0)}/s), p50 ${p50} ms, p99 ${p99} ms, most ${most} ms`,
  );
}
