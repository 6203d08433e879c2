/** The door of services across clusters (docs/use/clusterset.md): their keys of clusters.yaml, and what follows. */

import { setKeys } from '#infra/clusterset/config/clusterset-keys.ts';
import type { ClustersetTasks } from '#infra/relay/set-tasks.ts';
import type { ClusterConfig, Config, HubConfig } from './config.ts';
import type { Fields } from './yaml/yaml-shape.ts';

type ConfigOfSet = HubConfig['clusterset'];

export interface ConfigPart {
  readonly hubKeys: Fields;
  readonly clusterKeys: Fields;
  /** Returns what is wrong with the keys of a cluster together. Parts of them may be missing. */
  readonly brokenKeys: (cluster: ClusterConfig) => string | undefined;
  /** Returns what is wrong with the clusters together. */
  readonly brokenRule: (config: Config) => string | undefined;
  /** Returns what is wrong with a cluster of the hub. */
  readonly brokenCluster: (cluster: ClusterConfig, set: ConfigOfSet) => string | undefined;
  /** The relay's manifest depends on the other clusters of the hub. */
  readonly needsOthers: (cluster: ClusterConfig) => boolean;
  /** Its part of the cluster's registration. */
  readonly registration: (cluster: ClusterConfig, set: ConfigOfSet) => { readonly clusterset?: object };
  /** Additional tasks of relay and writer. `clusters`: of the whole hub. */
  readonly relayTasks: (
    cluster: ClusterConfig,
    set: ConfigOfSet,
    clusters: readonly ClusterConfig[],
  ) => { readonly clusterset?: ClustersetTasks };
}

export const configParts: readonly ConfigPart[] = [setKeys];

export const keysOf = (keys: 'hubKeys' | 'clusterKeys'): Fields =>
  Object.assign({}, ...configParts.map((part) => part[keys]));
