/** `npm run grafana`: writes the dashboards for Grafana into infra/monitoring/grafana. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { grafanaDashboards } from './grafana.ts';

const folder = new URL('./grafana/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const { name, dashboard } of grafanaDashboards()) writeFileSync(new URL(name, folder), `${JSON.stringify(dashboard, null, 2)}\n`);
