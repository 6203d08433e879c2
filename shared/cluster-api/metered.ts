import type { Metrics } from '#shared/telemetry/port.ts';
import type { ClusterApi } from './port.ts';

/** The same API, with the time of every call as ApiLatency, whether it succeeds or not. */
export function meteredClusterApi(api: ClusterApi, cluster: string, metrics: Metrics, now: () => number): ClusterApi {
  const timed =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const started = now();
      try {
        return await call(...args);
      } finally {
        metrics.put('ApiLatency', now() - started, { cluster });
      }
    };
  return {
    get: timed(api.get) as ClusterApi['get'],
    list: timed(api.list) as ClusterApi['list'],
    create: timed(api.create) as ClusterApi['create'],
    dryRunCreate: timed(api.dryRunCreate) as ClusterApi['dryRunCreate'],
    replace: timed(api.replace) as ClusterApi['replace'],
    patch: timed(api.patch) as ClusterApi['patch'],
    patchStatus: timed(api.patchStatus),
    delete: timed(api.delete),
    identity: timed(api.identity),
    allows: timed(api.allows),
  };
}
