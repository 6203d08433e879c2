import type { QueueUrls } from './clusters/record.ts';
import { hubEnv } from './contract/env.ts';
import { type ClusterMetrics, clusterMetricsChoices, metricsNamespaceOf } from './contract/metrics.ts';

export interface HubSettings {
  readonly tableName: string;
  readonly metricsNamespace: string;
  readonly clusterMetrics: ClusterMetrics;
  /** Local runs: the clusters' queues. Deployed, each cluster's record has them. */
  readonly queues: { readonly [cluster: string]: QueueUrls };
  /** Local runs: file with the clusters' connections by id. */
  readonly connectionsFile: string | undefined;
}

/** The functions' settings. One error names every missing or unreadable variable. */
export function readHubSettings(env: { readonly [name: string]: string | undefined }): HubSettings {
  const wrong: string[] = [];
  const tableName = env[hubEnv.tableName] ?? '';
  if (!tableName) wrong.push(`${hubEnv.tableName} is not set`);
  let queues: HubSettings['queues'] = {};
  try {
    queues = JSON.parse(env[hubEnv.queues] ?? '{}') as HubSettings['queues'];
  } catch {
    wrong.push(`${hubEnv.queues} is not JSON: ${env[hubEnv.queues]?.slice(0, 80)}`);
  }
  const clusterMetrics = (env[hubEnv.clusterMetrics] || 'all') as ClusterMetrics;
  if (!clusterMetricsChoices.includes(clusterMetrics))
    wrong.push(`${hubEnv.clusterMetrics} is ${JSON.stringify(clusterMetrics)}: ${clusterMetricsChoices.join(' or ')} is needed`);
  if (wrong.length > 0) throw new Error(`settings: ${wrong.join('; ')}`);
  return {
    tableName,
    metricsNamespace: metricsNamespaceOf(env[hubEnv.hubName]),
    clusterMetrics,
    queues,
    connectionsFile: env[hubEnv.connectionsFile],
  };
}
