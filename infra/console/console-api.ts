/** The console's API: JSON for its page. */
import { worstCause } from '#infra/cli/ask/answer-text.ts';
import { explain } from '#infra/cli/ask/explain-service.ts';
import { explainThen } from '#infra/cli/ask/explain-then.ts';
import { readRuns } from '#infra/cli/ask/history-service.ts';
import { reachCounts } from '#infra/cli/ask/lists/reach-counts.ts';
import { serviceRows } from '#infra/cli/ask/lists/service-rows.ts';
import { chosenClusters } from '#infra/cli/hub/connect-hub.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { listClusters } from '#shared/clusters/record.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import type { DashboardsAnswer, DeployedHub, HistoryAnswer, ListedService } from './api-types.ts';
import { fleetRows } from './fleet-rows.ts';
import type { MetricsSource } from './metrics-source.ts';
import { nameSearch } from './name-search.ts';
import type { Routes } from './server.ts';
import { consoleParts } from './wing.ts';

export interface ApiDeps {
  readonly metrics: MetricsSource;
  /** Returns undefined until the table's server runs. */
  readonly table: () => Table | undefined;
  readonly now: () => number;
  /** Interval of the page's requests, seconds. */
  readonly refreshSeconds: number;
  readonly deployed?: DeployedHub;
}

export function apiRoutes({ metrics, table, now, refreshSeconds, deployed }: ApiDeps): Routes {
  const started = (): Table => {
    const there = table();
    if (!there) throw new NotReady('the table is not ready yet');
    return there;
  };
  const search = nameSearch(now);
  const counts = reachCounts(countedAtOnce);
  return {
    '/api/dashboards': json(async (): Promise<DashboardsAnswer> => {
      const [clusters, dashboards] = await Promise.all([listClusters(started()), metrics.dashboards()]);
      return {
        dashboards,
        clusters,
        minutes: metrics.minutes,
        refreshSeconds,
        ...(deployed && { deployed }),
      };
    }),
    '/api/series': json(async (query) => {
      const dashboards = await metrics.dashboards();
      const dashboard = dashboards.find((d) => d.id === query.get('dashboard'));
      if (!dashboard)
        throw new UsageError(
          `no dashboard ${query.get('dashboard')}: there are ${dashboards.map((d) => d.id).join(', ')}`,
        );
      const minutes = Number(query.get('minutes') ?? metrics.minutes[0]);
      if (!metrics.minutes.includes(minutes))
        throw new UsageError(
          `minutes=${query.get('minutes')}: ${metrics.minutes.slice(0, -1).join(', ')} or ${metrics.minutes.at(-1)}`,
        );
      return metrics.series(dashboard, query.get('cluster') ?? undefined, minutes, timeIn(query, 'until'));
    }),
    '/api/search': json((query) => search(started(), query.get('text') ?? '')),
    '/api/fleet': json(() => fleetRows(started(), metrics, counts, now())),
    ...Object.fromEntries(
      consoleParts.map(({ path, answer }) => [path, json(() => answer(started(), now()))]),
    ),
    '/api/services': json(async (query) => {
      const [cluster = ''] = await chosenClusters(started(), named(query, 'cluster'));
      return listedServices(started(), cluster, now());
    }),
    '/api/explain': json((query) =>
      explain(started(), serviceOf(query), now(), query.get('pod') ?? undefined),
    ),
    '/api/history': json(
      (query): Promise<HistoryAnswer> =>
        readRuns(started(), serviceOf(query), { sinceMs: 0, nowMs: now(), atMost: newestRuns }).then(
          ({ runs, remarks }) => ({ runs, remarks }),
          noHistory,
        ),
    ),
    '/api/then': json((query) => {
      named(query, 'at');
      return explainThen(started(), serviceOf(query), timeIn(query, 'at') as number, now());
    }),
  };
}

/** Clusters of the fleet whose Services are counted for one request: a second's reads at most. */
const countedAtOnce = 4;

const listedServices = async (
  table: Table,
  cluster: string,
  now: number,
): Promise<readonly ListedService[]> =>
  (await serviceRows(table, cluster, now)).map(({ data: { causes, ...row }, ...entry }) => ({
    ...row,
    ...entry,
    cause: worstCause(causes),
  }));

/** Number of runs that the page can show. */
const newestRuns = 200;

class NotReady extends Error {
  override readonly name = 'NotReady';
}

/**
 * Returns an empty history for a name that a cluster only imports: it has an explanation, but lacks a
 * Service. `/api/explain` refuses an unknown name.
 */
function noHistory(error: unknown): HistoryAnswer {
  if (!(error instanceof UsageError)) throw error;
  return { runs: [], remarks: [] };
}

const serviceOf = (query: URLSearchParams): ServiceKey => ({
  cluster: named(query, 'cluster'),
  namespace: named(query, 'namespace'),
  name: named(query, 'service'),
});

/** Returns a time, ms since the epoch, or undefined if the query lacks it. */
function timeIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (text === '' || Number.isNaN(new Date(Number(text)).getTime()))
    throw new UsageError(`${name}=${text}: ms since the epoch`);
  return Number(text);
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
