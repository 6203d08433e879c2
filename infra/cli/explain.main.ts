/** `npm run explain -- CLUSTER NAMESPACE/SERVICE [POD]`: why a service has the endpoints that it has. */

import { listClusters } from '#shared/clusters/record.ts';
import { chosenClusters, command, connectHub } from './connect-hub.ts';
import { explain } from './explain-service.ts';
import { explanationLines } from './explain-text.ts';
import { say } from './printable.ts';
import { UsageError } from './usage-error.ts';

const usage = 'usage: npm run explain -- CLUSTER NAMESPACE/SERVICE [POD]';

await command(async () => {
  const [chosen, service = '', pod, ...rest] = process.argv.slice(2);
  const [, namespace, name] = service.match(/^([^/]+)\/([^/]+)$/) ?? [];
  const { table } = connectHub(process.env);
  if (chosen === undefined) throw new UsageError(`${usage}; clusters: ${(await listClusters(table)).join(', ') || 'none'}`);
  const [cluster = ''] = await chosenClusters(table, chosen, false);
  if (!namespace || !name || rest.length > 0) throw new UsageError(usage);
  say(...explanationLines(await explain(table, { cluster, namespace, name }, Date.now(), pod)));
});
