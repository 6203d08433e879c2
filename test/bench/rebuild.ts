/**
 * `npm run bench -- rebuild` measures the time from an empty table until every service is synced again
 * (runbook, "The table is lost"). It uses a local run with its real processes, on an embedded API server with
 * 200 services of 10 pods. Every item of the table is deleted during the run, and pods are added and removed.
 * Then the cluster is registered as by a deploy, and functions and relay restart. No address of a live and
 * ready pod may be removed at any moment.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectHub, type Hub, type LocalAddresses, localHubFile } from '#infra/cli/hub/connect-hub.ts';
import { startEmbeddedCluster } from '#infra/local/apiserver/embedded.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import { listClusters, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { concurrently } from '#shared/concurrently.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import type { Key } from '#shared/store/table.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import { kubeconfigText } from '#test/support/control-plane/kubeconfig.ts';
import { type LocalRun, startLocalRun } from '#test/support/local-run.ts';
import { pod, service } from '#test/support/objects.ts';
import { differences, isEndpoint, podByUid, shownPods } from '#test/worlds/simulation/promises/truth.ts';

const size = { namespaces: 5, services: 200, pods: 2000 };
/** Numbers of pods that are removed, and added, while the table is empty. */
const changed = 40;
const patienceMs = 3 * 60_000;

const createdAt = new Date().toISOString().replace(/\.\d+/, '');
const inNamespace = (service: number): string => `ns-${service % size.namespaces}`;
const services = Array.from({ length: size.services }, (_, i) => ({
  namespace: inNamespace(i),
  name: `svc-${i}`,
}));

const aService = (i: number): Service =>
  service(
    {
      clusterIP: undefined,
      ipFamilies: undefined,
      selector: { app: `svc-${i}` },
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
    },
    { name: `svc-${i}`, namespace: inNamespace(i), uid: undefined },
  );

function aPod(n: number): Pod {
  const of = n % size.services;
  return pod(`pod-${n}`, {
    uid: randomUUID(),
    namespace: inNamespace(of),
    labels: { app: `svc-${of}` },
    createdAt,
    ips: [`10.${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`],
    spec: { nodeName: `node-${n % 20}`, containers: [{ name: 'c', image: 'i' }] },
  });
}

function fill(store: Store): void {
  for (let i = 0; i < size.namespaces; i++) store.create('Namespace', '', { metadata: { name: `ns-${i}` } });
  for (let i = 0; i < 20; i++) store.create('Node', '', { metadata: { name: `node-${i}` } });
  for (let i = 0; i < size.services; i++) store.create('Service', inNamespace(i), aService(i));
  for (let n = 0; n < size.pods; n++) store.apply(aPod(n));
}

/** RunText of every write of an output: which pods it took away although they are alive, ready and selected. */
function watchOver(store: Store): { readonly wronged: readonly string[]; readonly writes: () => number } {
  const wronged: string[] = [];
  let writes = 0;
  const shown = new Map<string, ReadonlySet<string>>();
  for (const kind of ['Endpoints', 'EndpointSlice'] as const) {
    for (const { namespace, name } of services)
      shown.set(`${kind} ${namespace}/${name}`, shownPods(store, kind, { namespace, name }).ready);
    store.watch(kind, ({ object }) => {
      writes++;
      const { namespace = '', labels = {} } = object.metadata;
      const name = kind === 'Endpoints' ? object.metadata.name : (labels['kubernetes.io/service-name'] ?? '');
      const key = `${kind} ${namespace}/${name}`;
      const { ready } = shownPods(store, kind, { namespace, name });
      const service = store.find('Service', namespace, name);
      for (const uid of shown.get(key) ?? []) {
        if (ready.has(uid)) continue;
        const pod: Pod | undefined = podByUid(store, namespace, uid);
        if (pod && isEndpoint(pod, service))
          wronged.push(`${key} lost ${pod.metadata.name}, which is alive and ready`);
      }
      shown.set(key, ready);
    });
  }
  return { wronged, writes: () => writes };
}

async function until(what: string, holds: () => Promise<boolean>, run: LocalRun): Promise<void> {
  for (const limit = Date.now() + patienceMs; !(await holds()); await sleep(100)) {
    if (Date.now() > limit)
      throw new Error(
        `${what}: not within ${patienceMs / 1000} s; its last lines:\n${run.lines.slice(-30).join('\n')}`,
      );
  }
}

async function hubOf(consoleUrl: string): Promise<Hub> {
  const folder = dirname(localHubFile(0));
  for (const file of await readdir(folder)) {
    const addresses = JSON.parse(
      await readFile(join(folder, file), 'utf8').catch(() => '{}'),
    ) as LocalAddresses;
    if (addresses.consoleUrl === consoleUrl) return connectHub({ HUB: String(Number.parseInt(file, 10)) });
  }
  throw new Error(`no run has left the address ${consoleUrl}`);
}

async function deleteEverything({ table }: Hub): Promise<number> {
  let deleted = 0;
  for (let next: Key | undefined, first = true; first || next; first = false) {
    const page = await table.scanKeys(next);
    await concurrently(32, page.keys, (key) => table.delete(key));
    deleted += page.keys.length;
    next = page.next;
  }
  return deleted;
}

async function killFunctionsAndRelay(consoleUrl: string): Promise<void> {
  const { processes } = (await (await fetch(`${consoleUrl}/healthz`)).json()) as {
    processes: { name: string; pid?: number }[];
  };
  for (const { name, pid } of processes)
    if (pid !== undefined && /^(ingest|sync|sweep|relay)\b/.test(name)) process.kill(pid, 'SIGKILL');
}

async function rebuild(store: Store, run: LocalRun): Promise<readonly string[]> {
  const [, consoleUrl = ''] = await run.line(/console at (http\S+)/);
  await run.line(/^ready/, patienceMs);
  const hub = await hubOf(consoleUrl);
  const { table } = hub;
  const [cluster = ''] = await listClusters(table);
  const right = async (): Promise<boolean> => differences(store, 100).length === 0;
  await until('every service has its endpoints', right, run);
  const before = await readCluster(table, cluster);
  if (!before?.queues) throw new Error(`${cluster} has no queues`);
  console.log(`${size.services} services of ${size.pods / size.services} pods have their endpoints`);

  const watched = watchOver(store);
  const deleted = await deleteEverything(hub);
  for (let n = 0; n < changed; n++) {
    const { namespace = '', name } = aPod(n * 7).metadata;
    store.remove('Pod', namespace, name);
    store.apply(aPod(size.pods + n * 3));
  }
  await sleep(5000);
  // Whatever a worker that was under way has written since.
  await deleteEverything(hub);
  console.log(`${deleted} items deleted, ${changed} pods gone and ${changed} come since`);

  const startedAt = Date.now();
  const seconds = (): string => ((Date.now() - startedAt) / 1000).toFixed(1);
  const arn = (name: string): string => `arn:aws:sqs:eu-west-1:000000000000:${cluster}-${name}`;
  const { settings, queues } = before;
  await registerCluster(
    table,
    { id: cluster, mode: 'active', settings, queues, eventsArn: arn('events'), syncsArn: arn('syncs') },
    Date.now(),
  );
  await killFunctionsAndRelay(consoleUrl);
  await until(
    'first lists',
    async () => hasSynced((await readCluster(table, cluster)) as NonNullable<typeof before>),
    run,
  );
  const listed = seconds();
  await until(
    'every service is synced',
    async () =>
      (
        await concurrently(16, services, async ({ namespace, name }) => {
          const work = await readWork(table, { cluster, namespace, kind: 'service', name });
          return work.generation > 0 && isClean(work);
        })
      ).every(Boolean) && (await right()),
    run,
  );
  console.log(
    `rebuilt: first lists applied after ${listed} s, every service synced again after ${seconds()} s; ` +
      `${watched.writes()} writes to the cluster for ${2 * changed} pods that changed meanwhile, ${watched.wronged.length} addresses of living pods removed`,
  );
  hub.sqs.destroy();
  hub.dynamodb.destroy();
  return watched.wronged;
}

const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-rebuild-'));
const { store, url, close } = await startEmbeddedCluster({ historyLimit: 50_000 });
fill(store);
const kubeconfig = join(folder, 'kubeconfig.yaml');
await writeFile(kubeconfig, kubeconfigText({ server: url }), { mode: 0o600 });
const run = startLocalRun(['--kubeconfig', kubeconfig, '--mode', 'active', '--controllers-off']);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
try {
  const wronged = await rebuild(store, run);
  for (const line of wronged.slice(0, 20)) console.log(`NOT  ${line}`);
  if (wronged.length > 0) process.exitCode = 1;
} finally {
  await run.stop();
  await close();
  await rm(folder, { recursive: true, force: true });
}
