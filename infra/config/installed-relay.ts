/** The relay's installation of a cluster, as its part of clusters.yaml describes it. */
import type { ClustersetTasks } from '#infra/relay/clusterset-tasks.ts';
import type { RelayInstall } from '#infra/relay/manifest.ts';
import { takesPart } from './clusterset-rules.ts';
import type { ClusterConfig, ClustersetConfig } from './config.ts';
import { projectsToken } from './relay-config.ts';

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
      cleanup: optIn === 'active' && (settings.optIn?.cleanup ?? true),
    },
    ...(clusterset && takesPart(cluster) && { clusterset: tasksInSet(cluster, clusterset, members) }),
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

/**
 * A cluster that previews imports has the rights to write them from the start, as one in shadow mode has
 * those of active mode.
 */
function tasksInSet(
  { id: cluster, imports, exports: own }: ClusterConfig,
  { name: set, sameness }: ClustersetConfig,
  members: readonly ClusterConfig[],
): ClustersetTasks {
  const editors = own?.editorsMayExport ? { editorsMayExport: true } : {};
  if (imports === 'off') return editors;
  const sources = Object.fromEntries(
    members.flatMap(({ id, exports }) => (exports ? [[id, exports.podCidrs]] : [])),
  );
  return { imports: { cluster, set, sameness, sources }, ...editors };
}
