/** The Nodes of a cluster, which a warm worker keeps for its runs. */
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { decodeProjection } from '#shared/kube/projection/projection.ts';
import type { Node } from '#shared/kube/types.ts';
import { isAlive, objectPages } from '#shared/store/inputs/objects.ts';
import type { KeptNodes, NodesRead, SyncDeps } from './deps.ts';

/** The nodes of a cluster are kept by runs that it has admitted. */
export const admittedScope = (deps: SyncDeps, cluster: string): string | undefined =>
  deps.nodes.get(cluster)?.scope;

/**
 * The version is in the cluster's record, which is read before. It rises after each write of a node, so nodes
 * whose read began at this version are never older. Runs at the same version or an older one share a read:
 * all Nodes of a cluster are in one partition, and a change of one Node concerns every service of a batch.
 */
export async function nodesOf(deps: SyncDeps, cluster: ClusterRecord): Promise<NodesRead> {
  const { id, nodesVersion: version, cacheScope: scope } = cluster;
  const kept = deps.nodes.get(id);
  if (kept && kept.version >= version && kept.scope === scope) return kept.read;
  const begun: KeptNodes = { scope, version, read: readNodes(deps, id), count: 0 };
  deps.nodes.set(id, begun);
  try {
    const read = await begun.read;
    begun.count = read.nodes.size;
    if (countKept(deps) > deps.limits.sync.maxNodes) forgetOthers(deps, begun);
    return read;
  } catch (error) {
    if (deps.nodes.get(id) === begun) deps.nodes.delete(id);
    throw error;
  }
}

const countKept = ({ nodes }: SyncDeps): number =>
  [...nodes.values()].reduce((sum, { count }) => sum + count, 0);

/** Reads that are under way stay. */
function forgetOthers({ nodes }: SyncDeps, kept: KeptNodes): void {
  for (const [id, other] of nodes) if (other !== kept && other.count > 0) nodes.delete(id);
}

async function readNodes({ table, limits }: SyncDeps, cluster: string): Promise<NodesRead> {
  const nodes = new Map<string, Node>();
  for await (const page of objectPages({ table, cluster }, 'Node', '', nodesAtOnce)) {
    for (const r of page)
      if (isAlive(r)) nodes.set(r.name, decodeProjection('Node', '', r.name, r.projection));
    // A relay can make up any number of them.
    if (nodes.size > limits.sync.maxNodes) return { nodes, isCut: true };
  }
  return { nodes, isCut: false };
}

const nodesAtOnce = 1_000;
