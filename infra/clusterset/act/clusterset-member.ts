/**
 * The shared part of `cluster imports` and `cluster exports`: the cluster, its state in its set, and the
 * audit record.
 */
import { userInfo } from 'node:os';
import { chosenClusters, type Hub } from '#infra/cli/hub/connect-hub.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { recordAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import {
  exportsAnything,
  importsAnything,
  isMember,
  membershipOf,
  namespacesText,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import type { ClustersetKind } from '#shared/kube/types.ts';

export interface SetSwitchOptions {
  readonly id: string | undefined;
  readonly reason?: string;
  /** Skips the checks. */
  readonly override?: boolean;
}

export async function memberOf(hub: Hub, chosen: string | undefined): Promise<ClusterRecord> {
  const [id = ''] = await chosenClusters(hub.table, chosen);
  const cluster = (await readCluster(hub.table, id)) as ClusterRecord;
  if (isDeregistered(cluster))
    throw new UsageError(`${id} is deregistered: put it into clusters.yaml and deploy to register it again`);
  return cluster;
}

export async function noteSwitch(
  hub: Hub,
  { id = '', reason, override }: SetSwitchOptions,
  what: string,
): Promise<void> {
  const at = new Date(hub.now()).toISOString();
  await recordAudit(hub.table, id, {
    at,
    who: userInfo().username,
    what: `${what}${override ? ' with --override' : ''}${reason ? `: ${reason}` : ''}`,
  });
}

export function memberLines(cluster: ClusterRecord): readonly string[] {
  const { id } = cluster;
  if (!isMember(cluster)) return [`${id}  is in no clusterset`];
  const membership = membershipOf(cluster);
  const { set, sameness, withdraws, exports, evictAfterSeconds } = membership;
  const evicts =
    evictAfterSeconds === undefined
      ? 'stay'
      : `are evicted after ${evictAfterSeconds} s, unless its API answers`;
  return [
    `${id}  clusterset ${set}: imports ${withdraws ? 'withdrawing' : membership.imports}, exports ${namespacesText(exports)}`,
    `    addresses of its pods: ${exports.podCidrs?.join(', ') ?? 'any'}${exports.allowOverlap ? ', which may overlap with other clusters' : ''}`,
    `    namespaces: ${sameness === 'all' ? 'every one takes imports' : `those with the label fleet-endpoints/clusterset: ${set} take imports`}`,
    `    its endpoints in the importers while it is silent: they ${evicts}`,
    ...unlistedKinds(cluster).map(
      (kind) =>
        `    its relay has sent no list of ${kind}s: the kind is not installed, or the relay does not watch it, or has just started`,
    ),
  ];
}

function unlistedKinds(cluster: ClusterRecord): readonly ClustersetKind[] {
  const needed: readonly (readonly [ClustersetKind, boolean])[] = [
    ['ServiceExport', exportsAnything(cluster)],
    ['ServiceImport', importsAnything(cluster)],
  ];
  return needed.flatMap(([kind, isNeeded]) =>
    isNeeded && cluster.lists.firstListOf[kind] !== cluster.incarnation ? [kind] : [],
  );
}
