/** The relay's installation of a cluster, as its part of clusters.yaml describes it. */
import type { RelayInstall } from '#infra/relay/manifest.ts';
import type { ClusterConfig, ClustersetConfig } from './config.ts';
import { projectsToken } from './relay-config.ts';
import { configParts } from './wing.ts';

export type RelaySettings = Omit<RelayInstall, 'program'>;

/** Values that the deploy decides. */
export interface DeployedRelay {
  readonly eventsQueueUrl: string;
  readonly region: string;
  /** Needed if the relay authenticates by a token of its ServiceAccount. */
  readonly roleArn: string;
}

/** `members`: the clusters of the set; a cluster that imports needs the exporting ones among them. */
export function relaySettingsOf(
  cluster: ClusterConfig,
  clusterset: ClustersetConfig | undefined,
  members: readonly ClusterConfig[],
  { eventsQueueUrl, region, roleArn }: DeployedRelay,
): RelaySettings {
  const { relay, optIn, mode, settings } = cluster;
  return {
    cluster: cluster.id,
    namespace: relay.namespace,
    eventsQueueUrl,
    region,
    tasks: {
      // A cluster that is to be active later has these rights from the start, unless Services opt in there
      // instead.
      builtIn: optIn !== 'active' || mode === 'active',
      optIn: optIn === 'active',
      cleanup: optIn === 'active' && settings.optInCleanup,
    },
    ...Object.assign({}, ...configParts.map((part) => part.relayTasks(cluster, clusterset, members))),
    outputs: mode === 'shadow' ? 'full' : 'metadata',
    replicas: relay.replicas,
    resyncSeconds: String(relay.resyncSeconds),
    ...(projectsToken(relay) && { roleArn }),
    priorityClassName: relay.priorityClassName,
    extras: {
      extraEnv: relay.extraEnv,
      extraVolumes: relay.extraVolumes,
      extraVolumeMounts: relay.extraVolumeMounts,
      sidecars: relay.sidecars,
    },
  };
}
