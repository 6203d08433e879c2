/**
 * `npm run dashboards`: the dashboards that `cdk deploy` creates, drawn with a simulated day of 100 clusters,
 * into dist/dashboards.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { deployedBodies } from './bodies.ts';
import { clusters, simulateDay } from './day.ts';
import { draw } from './drawing.ts';
import { busyCluster } from './troubles.ts';

console.log(`a day of ${clusters.length} clusters, in about a minute`);
const { fleet, cluster, alarms } = deployedBodies();
const metrics = await simulateDay();
const folder = resolve('dist/dashboards');
mkdirSync(folder, { recursive: true });
for (const [name, { html }] of Object.entries({
  fleet: draw(fleet, metrics, { alarms }),
  cluster: draw(cluster, metrics, { cluster: busyCluster }),
})) {
  writeFileSync(`${folder}/${name}.html`, html);
  console.log(`file://${folder}/${name}.html`);
}
