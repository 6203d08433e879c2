/** The console's API: JSON for its page. */
import { explain } from '#infra/cli/explain-service.ts';
import { listServices } from '#infra/cli/list-services.ts';
import { UsageError } from '#infra/cli/usage-error.ts';
import { dashboards } from '#infra/monitoring/dashboards.ts';
import { listClusters } from '#shared/clusters/record.ts';
import type { Table } from '#shared/store/table.ts';
import type { DashboardsAnswer } from './api-types.ts';
import { fleetRows } from './fleet-rows.ts';
import type { MetricsStore } from './metrics-store.ts';
import { seriesOf } from './series-data.ts';
import type { Routes } from './server.ts';

export interface ApiDeps {
  readonly store: MetricsStore;
  /** Undefined until the table's server runs. */
  readonly table: () => Table | undefined;
  readonly now: () => number;
}

export function apiRoutes({ store, table, now }: ApiDeps): Routes {
  const started = (): Table => {
    const there = table();
    if (!there) throw new NotReady('the table is not ready yet');
    return there;
  };
  return {
    '/api/dashboards': json(async (): Promise<DashboardsAnswer> => ({ dashboards, clusters: await listClusters(started()) })),
    '/api/series': json((query) => {
      const dashboard = dashboards.find((d) => d.id === query.get('dashboard'));
      if (!dashboard) throw new UsageError(`no dashboard ${query.get('dashboard')}: there are ${dashboards.map((d) => d.id).join(', ')}`);
      const minutes = Number(query.get('minutes') ?? 5);
      if (![5, 15, 30].includes(minutes)) throw new UsageError(`minutes=${query.get('minutes')}: 5, 15 or 30`);
      return seriesOf(store, dashboard, query.get('cluster') ?? undefined, { now: now() / 1000, minutes });
    }),
    '/api/fleet': json(() => fleetRows(started(), store, now())),
    '/api/services': json((query) => listServices(started(), named(query, 'cluster'))),
    '/api/explain': json((query) => {
      const key = { cluster: named(query, 'cluster'), namespace: named(query, 'namespace'), name: named(query, 'service') };
      return explain(started(), key, now(), query.get('pod') ?? undefined);
    }),
  };
}

class NotReady extends Error {
  override readonly name = 'NotReady';
}

function named(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (!value) throw new UsageError(`${name}=… is missing`);
  return value;
}

const json =
  (answer: (query: URLSearchParams) => unknown): Routes[string] =>
  async (query) => {
    const type = 'application/json; charset=utf-8';
    try {
      return { type, body: `${JSON.stringify(await answer(query))}\n` };
    } catch (e) {
      const status = e instanceof UsageError ? 404 : e instanceof NotReady ? 503 : 500;
      return { type, status, body: `${JSON.stringify({ error: (e as Error).message })}\n` };
    }
  };
