/**
 * The process of the embedded clusters, each with an API server and a demonstration workload. They live in
 * memory: after a restart they are new clusters.
 */
import { startEmbeddedCluster } from '../apiserver/embedded.ts';
import { childEnv, onStop, portOf, report, writeLine } from '../processes/child-process.ts';
import { embeddedRange } from './pod-ranges.ts';
import { startWorkload } from './workload.ts';

const ids = JSON.parse(process.env[childEnv.clusters] ?? '[]') as string[];
const stopping = new AbortController();
const servers = new Map<string, Awaited<ReturnType<typeof startEmbeddedCluster>>>();
for (const [i, id] of ids.entries()) servers.set(id, await startEmbeddedCluster({ port: portOf(i) }));
report({
  ports: [...servers.values()].map((s) => Number(new URL(s.url).port)),
  connections: Object.fromEntries([...servers].map(([id, { url }]) => [id, { server: url }])),
});
onStop(async () => {
  stopping.abort();
  await Promise.all([...servers.values()].map((s) => s.close()));
});

const exports = process.env[childEnv.exports] === '1';
for (const [i, [id, { store }]] of [...servers].entries()) {
  // The log of one workload is enough to read.
  const log = (line: string) => id === ids[0] && writeLine(line);
  startWorkload(store, { signal: stopping.signal, log, range: embeddedRange(i), exports });
}
