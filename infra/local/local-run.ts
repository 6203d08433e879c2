/** A local run, from its start to its end. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type LocalAddresses, localHubFile, publishLocalAddresses } from '#infra/cli/hub/connect-hub.ts';
import { progressText } from '#infra/cli/terminal/progress.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { apiRoutes } from '#infra/console/console-api.ts';
import { localMetrics } from '#infra/console/local-metrics.ts';
import { metricsStore } from '#infra/console/metrics-store.ts';
import { pageRoutes } from '#infra/console/page.ts';
import { startConsole } from '#infra/console/server.ts';
import { kinds } from '#shared/kube/types.ts';
import type { Table } from '#shared/store/table.ts';
import { type ClusterSource, clustersOfKubeconfig, embeddedClusters } from './clusters/cluster-source.ts';
import { type Connections, connectionFiles } from './clusters/connection-files.ts';
import { rangesOfNodes, refuseOverlap } from './clusters/pod-ranges.ts';
import { refuseMissingRights } from './clusters/read-rights.ts';
import { refuseSecondWriter } from './clusters/second-writer.ts';
import { synced } from './first-lists-wait.ts';
import type { Options } from './options.ts';
import { prepareHub } from './prepare-hub.ts';
import {
  hubProcesses,
  queuesProcess,
  region,
  relayProcess,
  tableName,
  tableProcess,
} from './processes/child-specs.ts';
import { scheduleAsBatch } from './processes/cpu-scheduling.ts';
import { lockData } from './processes/data-lock.ts';
import { childLines } from './processes/log-lines.ts';
import { type Child, type ChildSpec, startChild } from './processes/supervisor.ts';
import type { Terminal } from './processes/terminal.ts';
import { joinsSet } from './set-options.ts';
import { summary } from './summary.ts';
import { unmeteredTable } from './table/unmetered-table.ts';
import { localParts } from './wing.ts';

export interface RunOptions {
  readonly terminal: Terminal;
  readonly verbose: boolean;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

/** Resolves when the run has ended after the signal. Rejects with a UsageError if the run cannot continue. */
export async function run(options: Options, { terminal, verbose, signal }: RunOptions): Promise<void> {
  const startedAt = Date.now();
  const over = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => over.resolve(), { once: true });
  // The promise is awaited below. Until then its rejection must not count as unhandled.
  over.promise.catch(() => {});

  const store = metricsStore();
  const children: Child[] = [];
  const hooks = {
    onLine: childLines({ store, print: terminal.print, now: Date.now, verbose }),
    onNotice: terminal.print,
    onFatal: (text: string) => over.reject(new UsageError(text)),
  };
  const start = (spec: ChildSpec): Child => {
    // A child that starts after the signal could outlive the run.
    signal.throwIfAborted();
    const child = startChild(spec, hooks, profileFlags(options.profileDir, spec.name));
    children.push(child);
    return child;
  };
  let ready = false;
  let firstLists: string | undefined;
  let consoleTable: Table | undefined;
  const console = await startConsole(options.port, {
    ...pageRoutes(),
    ...apiRoutes({
      metrics: localMetrics(store, Date.now),
      table: () => consoleTable,
      now: Date.now,
      refreshSeconds: 1,
    }),
    '/healthz': () => ({ type: 'application/json', body: `${JSON.stringify(health(ready, children))}\n` }),
    '/metrics': () => ({ type: 'text/plain; version=0.0.4; charset=utf-8', body: store.prometheus() }),
  });
  let unlock = async (): Promise<void> => {};
  const own = await mkdtemp(join(tmpdir(), 'fleet-endpoints-'));

  async function begin(): Promise<void> {
    const { clusterset, mode, optIn, settings } = options;
    const source = options.kubeconfig
      ? await clustersOfKubeconfig(options.kubeconfig)
      : embeddedClusters(options.clusters, clusterset);
    const dataDir = await dataFolder(options.dataDir ?? join(own, 'data'));
    unlock = await lockData(dataDir);
    await scheduleAsBatch();
    for (const line of localParts.flatMap((part) => part.leftOut(options))) terminal.print(line);
    terminal.print(
      `starting table, queues, functions and ${describe(source, options)}; console at ${console.url}`,
    );
    const [table, queues, connections] = await Promise.all([
      start(tableProcess(join(dataDir, 'table'))).ready,
      start(queuesProcess(join(dataDir, 'queues'))).ready,
      source.connect(start),
    ]);
    await refuseUnfit(connections, source, options);
    const files = connectionFiles(own);
    await files.write(connections);
    source.onRenewal?.((renewed) => files.write(renewed));
    if (options.kubeconfig && mode === 'active' && !options.controllersOff) {
      terminal.print('checking that the built-in controllers of the cluster are off: ten seconds');
      await refuseSecondWriter(connections);
    }
    const urls = {
      tableUrl: `http://127.0.0.1:${table.ports?.[0]}`,
      queuesUrl: `http://127.0.0.1:${queues.ports?.[0]}`,
    };
    const hub = await prepareHub({
      ...urls,
      clusters: source.ids,
      mode,
      optIn,
      clusterset,
      podRanges: source.podRanges,
      settings,
    });
    consoleTable = unmeteredTable(urls.tableUrl);
    const addresses: LocalAddresses = {
      ...urls,
      tableName,
      region,
      connectionsFile: files.all,
      consoleUrl: console.url,
    };
    await publishLocalAddresses(addresses);
    const endpoints = { ...urls, queues: hub.queues, connections: files };
    const relay = { mode, takesPart: joinsSet(clusterset) };
    for (const spec of [
      ...hubProcesses(endpoints),
      ...source.ids.map((id) => relayProcess(endpoints, id, relay)),
    ])
      start(spec);
    await synced(hub, connections, signal, ({ waiting, applied }) => {
      const all = source.ids.length * kinds.length;
      const objects = Math.round(store.total('EventsIn'));
      firstLists = progressText(
        'first lists',
        applied + (source.ids.length - waiting.length) * kinds.length,
        all,
        `· ${objects} objects · ${waiting.join(', ')}`,
      );
    });
    ready = true;
    for (const line of readyLines(source.ids, options, { startedAt, consoleUrl: console.url }))
      terminal.print(line);
    if (!options.kubeconfig)
      terminal.print(`break it: KUBECONFIG=${await files.writeKubeconfig(connections)} kubectl get pods -A`);
    if (clusterset.imports === 'active')
      for (const part of localParts) void part.report({ connections, print: terminal.print, signal });
  }

  const stopSummary = showSummary(terminal, () => (ready ? summary(store) : firstLists));
  try {
    begin().catch((e) => over.reject(e));
    await over.promise;
  } finally {
    stopSummary();
    terminal.live('');
    await stopAll(children);
    console.close();
    await unlock();
    await rm(localHubFile(process.pid), { force: true });
    await rm(own, { recursive: true, force: true });
  }
}

/** Refuses clusters that the run may not read, or whose pods could have the same addresses. */
async function refuseUnfit(
  connections: Connections,
  source: ClusterSource,
  { kubeconfig, clusterset }: Options,
): Promise<void> {
  if (kubeconfig) await refuseMissingRights(connections);
  if (joinsSet(clusterset) && !clusterset.allowOverlap)
    refuseOverlap({ ...(await rangesOfNodes(connections)), ...source.podRanges });
}

/** Each process writes its profile when it ends. */
const profileFlags = (folder: string | undefined, name: string): readonly string[] =>
  folder === undefined
    ? []
    : [
        '--cpu-prof',
        `--cpu-prof-dir=${resolve(folder)}`,
        `--cpu-prof-name=${name.replaceAll(' ', '-')}.cpuprofile`,
      ];

async function dataFolder(dir: string): Promise<string> {
  const path = resolve(dir);
  try {
    await mkdir(path, { recursive: true });
  } catch (e) {
    throw new UsageError(`--data ${dir} cannot be used: ${(e as Error).message}`);
  }
  return path;
}

function describe(source: ClusterSource, { kubeconfig, mode, optIn, clusterset }: Options): string {
  const alone = [
    optIn === 'active' && 'Services that opt in',
    clusterset.imports === 'active' && 'imports',
    clusterset.exports.length > 0 && 'the status of exports',
  ];
  const purposes = alone.filter((purpose) => purpose !== false);
  const written =
    purposes.length > 0 ? ` (written to for ${purposes.join(' and ')} alone)` : ' (nothing is written to it)';
  const which = `cluster${source.ids.length === 1 ? '' : 's'} ${source.ids.join(', ')}`;
  if (kubeconfig) return `${which} of ${kubeconfig.file} in ${mode} mode${mode === 'shadow' ? written : ''}`;
  return source.ids.length === 1 ? 'an embedded cluster' : `${source.ids.length} embedded clusters`;
}

function readyLines(
  ids: readonly string[],
  { mode, kubeconfig }: Options,
  { startedAt, consoleUrl }: { readonly startedAt: number; readonly consoleUrl: string },
): readonly string[] {
  const clusters = ids.length === 1 ? ids[0] : `${ids.length} clusters`;
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  const service = kubeconfig ? ' -A' : ' shop/web';
  return [
    `ready: ${clusters} (${mode}) after ${seconds} s; Ctrl-C ends it`,
    `next: open ${consoleUrl}, or run npx fleet-endpoints explain ${ids[0]}${service}`,
  ];
}

const health = (ready: boolean, children: readonly Child[]) => ({
  ready,
  processes: children.map(({ name, pid, restarts }) => ({ name, pid, restarts })),
});

/**
 * Updates the live line of a terminal twice a second. Other output gets a plain line now and then, if the
 * text has changed.
 */
function showSummary(terminal: Terminal, text: () => string | undefined): () => void {
  let last: string | undefined;
  const live = setInterval(() => terminal.live(text() ?? ''), 500);
  const plain = setInterval(() => {
    const line = text();
    if (!terminal.isLive && line !== undefined && line !== last) terminal.print(line);
    last = line;
  }, 10_000);
  return () => {
    clearInterval(live);
    clearInterval(plain);
  };
}

/**
 * Stops the processes that use the table and the queues first, so none of them ends with an error. Takes well
 * below ten seconds.
 */
async function stopAll(children: readonly Child[]): Promise<void> {
  const isServer = ({ name }: Child) => name === 'table' || name === 'queues' || name === 'clusters';
  await Promise.all(children.filter((c) => !isServer(c)).map((c) => c.stop(4_000)));
  await Promise.all(children.filter(isServer).map((c) => c.stop(2_000)));
}
