/**
 * The registration of a cluster, which its stack writes, or `fleet-endpoints cluster register` if the stack
 * is unchanged.
 */
import type { ClusterConfig, HubConfig } from '#infra/config/config.ts';
import { configParts } from '#infra/config/wing.ts';

export interface RegisteredQueues {
  readonly urls: {
    readonly events: string;
    readonly syncs: string;
    readonly parked: string;
    readonly quarantine: string;
  };
  readonly eventsArn: string;
  readonly syncsArn: string;
}

export function registrationRecord(
  cluster: ClusterConfig,
  { clusterset: set }: Pick<HubConfig, 'clusterset'>,
  { urls, eventsArn, syncsArn }: RegisteredQueues,
) {
  const { id, labels, mode, optIn, settings } = cluster;
  const api = apiOf(cluster);
  const parts: { readonly clusterset?: object } = Object.assign(
    {},
    ...configParts.map((part) => part.registration(cluster, set)),
  );
  // Without `optIn: off`: a switch by hand then stays, and the first other value of clusters.yaml takes
  // effect (shared/clusters/registration.ts).
  return {
    id,
    ...(Object.keys(labels).length > 0 && { labels }),
    mode,
    ...(optIn !== 'off' && { optIn }),
    ...parts,
    settings,
    queues: urls,
    eventsArn,
    syncsArn,
    ...(api && { api }),
  };
}

/** The workers' part of the access to a cluster. The stacks handle access entries and rights to keys. */
function apiOf({ api }: ClusterConfig) {
  if (api?.auth.type === 'eks') {
    const { accessEntry: _, ...auth } = api.auth;
    return { ...api, auth };
  }
  if (api?.auth.type === 'secret') {
    const { kmsKeyArn: _, ...auth } = api.auth;
    return { ...api, auth };
  }
  return api;
}
