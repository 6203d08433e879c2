/** The keys of clusters.yaml for services across clusters, and what follows from them. */

import type { ClusterConfig, HubConfig } from '#infra/config/config.ts';
import { dnsLabel } from '#infra/config/config-values.ts';
import { oneOf, optional, withDefault } from '#infra/config/yaml/yaml-shape.ts';
import type { ClustersetTasks } from '#infra/relay/set-tasks.ts';
import { brokenSet, membershipOf, noSet, takesPart } from './clusterset-rules.ts';
import { clustersetShape, exportsShape } from './clusterset-shape.ts';

type ConfigOfSet = HubConfig['clusterset'];

export const setKeys = {
  hubKeys: {
    clusterset: optional(
      clustersetShape,
      'All exporters and importers of Services share these settings. They are a preview (docs/use/clusterset.md).',
    ),
  },
  clusterKeys: {
    imports: withDefault(
      oneOf('off', 'shadow', 'active'),
      'off' as const,
      'The cluster imports Services that other clusters of the set export: `shadow` computes, `active` writes. It is a preview (docs/use/clusterset.md).',
    ),
    exports: optional(
      exportsShape,
      'The cluster may make these exports, and without the key none. It is a preview (docs/use/clusterset.md).',
    ),
    region: optional(
      dnsLabel,
      'The cluster is in this failure domain of a set with `evictAfterSeconds`: clusters of one region may be lost together. Every cluster of the set has one, or none.',
    ),
  },
  brokenKeys,
  brokenRule: brokenSet,
  brokenCluster: (cluster: ClusterConfig, set: ConfigOfSet): string | undefined =>
    takesPart(cluster) && !set ? noSet(cluster) : undefined,
  needsOthers: ({ imports }: ClusterConfig): boolean => imports !== 'off',
  registration: (cluster: ClusterConfig, set: ConfigOfSet): { readonly clusterset?: object } => {
    const clusterset = membershipOf(cluster, set);
    return clusterset ? { clusterset } : {};
  },
  relayTasks,
};

function brokenKeys({ imports, exports, api, relay }: ClusterConfig): string | undefined {
  if (imports === 'active' && !api)
    return 'imports is active, but there is no api to write to: off and shadow are allowed without one';
  if (exports?.namespaces?.includes(relay?.namespace ?? ''))
    return `exports.namespaces has ${JSON.stringify(relay.namespace)}, the relay's own namespace, which is never exported`;
  if (exports?.namespaces?.length && !api)
    return 'exports has namespaces, but there is no api, which the hub asks before it withdraws endpoints: namespaces: [] is allowed without one';
  return undefined;
}

/**
 * A cluster that previews imports has the rights to write them from the start, as one in shadow mode has
 * those of active mode.
 */
function relayTasks(
  cluster: ClusterConfig,
  set: ConfigOfSet,
  clusters: readonly ClusterConfig[],
): { readonly clusterset?: ClustersetTasks } {
  if (!set || !takesPart(cluster)) return {};
  const editors = cluster.exports?.editorsMayExport ? { editorsMayExport: true } : {};
  if (cluster.imports === 'off') return { clusterset: editors };
  const sources = Object.fromEntries(
    clusters.flatMap(({ id, exports }) => (exports ? [[id, exports.podCidrs]] : [])),
  );
  const { name, sameness } = set;
  return { clusterset: { imports: { cluster: cluster.id, set: name, sameness, sources }, ...editors } };
}
