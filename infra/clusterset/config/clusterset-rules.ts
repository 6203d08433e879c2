/**
 * Which clusters of clusters.yaml are in the set, what they register of it, and the rules about them
 * together.
 */

import type { ClusterConfig, ClustersetConfig, Config } from '#infra/config/config.ts';
import { firstOverlap } from '#infra/config/overlaps.ts';
import type { ClustersetMembership } from '#shared/clusterset/contract/clusterset-settings.ts';

type InSet = Pick<ClusterConfig, 'id' | 'imports' | 'exports' | 'region'>;

/**
 * One that is in the set may be switched within it: its relay watches, and its writer may write, what that
 * takes.
 */
export const takesPart = ({ imports, exports }: Pick<ClusterConfig, 'imports' | 'exports'>): boolean =>
  imports !== 'off' || exports !== undefined;

/** Undefined for a cluster that takes no part in the set. */
export function membershipOf(
  cluster: InSet,
  set: ClustersetConfig | undefined,
): ClustersetMembership | undefined {
  if (!set || !takesPart(cluster)) return undefined;
  const { name, sameness, evictAfterSeconds } = set;
  const { namespaces = [], podCidrs, allowOverlap = false } = cluster.exports ?? {};
  return {
    set: name,
    sameness,
    imports: cluster.imports,
    exports: { namespaces, ...(podCidrs && { podCidrs }), ...(allowOverlap && { allowOverlap }) },
    ...(evictAfterSeconds !== undefined && { evictAfterSeconds }),
    ...(cluster.region !== undefined && { region: cluster.region }),
  };
}

export const noSet = ({ id, imports }: InSet): string =>
  `${id} has ${imports === 'off' ? 'exports' : `imports: ${imports}`}, but the hub has no set: hub.clusterset: { name: NAME } is needed`;

const maxMembers = 100;

export function brokenSet({ hub, clusters }: Config): string | undefined {
  const members = clusters.filter(takesPart);
  const [first] = members;
  if (first && !hub.clusterset) return noSet(first);
  if (members.length > maxMembers)
    return `${members.length} clusters have imports or exports: ${maxMembers} are allowed in a set`;
  return regionsOfSome(members) ?? overlap(members);
}

/** With regions of some clusters the hub could not count regions, and would count clusters. */
function regionsOfSome(members: readonly InSet[]): string | undefined {
  const without = members.filter(({ region }) => region === undefined).map(({ id }) => id);
  if (without.length === 0 || without.length === members.length) return undefined;
  return `${without.join(', ')}: a region is needed, because other clusters of the set have one`;
}

/** Clusters of a set need distinct pod addresses: traffic to a shared address may reach either cluster. */
function overlap(members: readonly InSet[]): string | undefined {
  for (const [i, a] of members.entries()) {
    for (const b of members.slice(i + 1)) {
      const found =
        a.exports?.allowOverlap && b.exports?.allowOverlap
          ? undefined
          : firstOverlap(a.exports?.podCidrs, b.exports?.podCidrs);
      if (found)
        return `exports.podCidrs of ${a.id} and of ${b.id} overlap: ${found.join(' and ')}. An importer could not tell whose pod an address is: give each its own ranges, or both allowOverlap: true`;
    }
  }
  return undefined;
}
