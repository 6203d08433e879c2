import { hubEnv } from './contract/env.ts';
import { type ClusterMetrics, clusterMetricsChoices, metricsNamespaceOf } from './contract/metrics.ts';

export interface HubSettings {
  readonly tableName: string;
  readonly metricsNamespace: string;
  readonly clusterMetrics: ClusterMetrics;
  /** Local runs: file with the clusters' connections by id. */
  readonly connectionsFile: string | undefined;
}

/** The functions' settings. One error names every missing or unreadable variable. */
export function readHubSettings(env: { readonly [name: string]: string | undefined }): HubSettings {
  const wrong: string[] = [];
  const tableName = env[hubEnv.tableName] ?? '';
  if (!tableName) wrong.push(`${hubEnv.tableName} is not set`);
  const clusterMetrics = (env[hubEnv.clusterMetrics] || 'all') as ClusterMetrics;
  if (!clusterMetricsChoices.includes(clusterMetrics))
    wrong.push(
      `${hubEnv.clusterMetrics} is ${JSON.stringify(clusterMetrics)}: ${clusterMetricsChoices.join(' or ')} is needed`,
    );
  if (wrong.length > 0) throw new Error(`settings: ${wrong.join('; ')}`);
  return {
    tableName,
    metricsNamespace: metricsNamespaceOf(env[hubEnv.hubName]),
    clusterMetrics,
    connectionsFile: env[hubEnv.connectionsFile],
  };
}
