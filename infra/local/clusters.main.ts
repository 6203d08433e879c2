/** The embedded clusters' process: an API server and a demonstration workload for each. They live in memory: killed, they are other clusters. */

import { startEmbeddedCluster } from './apiserver/embedded.ts';
import type { ApiServer } from './apiserver/http.ts';
import { childEnv, onStop, portOf, report } from './child.ts';

const ids = JSON.parse(process.env[childEnv.clusters] ?? '[]') as string[];
const servers: ApiServer[] = [];
for (const i of ids.keys()) servers.push(await startEmbeddedCluster({ port: portOf(i) }));
report({
  ports: servers.map((s) => Number(new URL(s.url).port)),
  connections: Object.fromEntries(ids.map((id, i) => [id, { server: (servers[i] as ApiServer).url }])),
});
onStop(() => Promise.all(servers.map((s) => s.close())));
