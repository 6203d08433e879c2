/** What a cluster has to do with the others of its set: what it may export, and whether it imports (docs/clusterset.md). */
import { clusterIndexKey, metaKey } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { isRegistered, memberAttribute, modeAttributes } from './mode.ts';

export interface ClustersetMembership {
  /** The name of the set. */
  readonly set: string;
  /** `labelled`: a namespace takes imports that has the set's label. `all`: each does that is not excluded. */
  readonly sameness: 'labelled' | 'all';
  readonly imports: 'off' | 'active';
  readonly exports: {
    readonly namespaces: readonly string[] | 'all';
    /** Ranges of the cluster's own pod addresses; left out: any address. */
    readonly podCidrs?: readonly string[];
  };
  /** How long the changes of an export are gathered before its importers run. */
  readonly importBatchSeconds: number;
}

export const noMembership: ClustersetMembership = {
  set: 'default',
  sameness: 'labelled',
  imports: 'off',
  exports: { namespaces: [] },
  importBatchSeconds: 2,
};

const attribute = 'clusterset';

/** Absent in the record of a cluster that takes no part, and in every one of the version before. */
export const decodeMembership = (item: Item): ClustersetMembership =>
  typeof item[attribute] === 'string'
    ? { ...noMembership, ...(JSON.parse(item[attribute] as string) as Partial<ClustersetMembership>) }
    : noMembership;

interface Member {
  readonly clusterset: ClustersetMembership;
}

export const exportsAnything = ({ clusterset: { exports } }: Member): boolean => exports.namespaces === 'all' || exports.namespaces.length > 0;
export const importsAnything = ({ clusterset: { imports } }: Member): boolean => imports !== 'off';

/** In the index of clusters: those that import, or did. Their own records say which of them still do. */
const importer = 'importer';

/** Changes the membership and owes a wake-up to every service. False: the cluster is not known, or was taken out of the configuration. */
export async function saveMembership(table: Table, cluster: string, membership: ClustersetMembership): Promise<boolean> {
  // First: an export that comes in between wakes the importer in vain, and not the other way round.
  if (membership.imports !== 'off') await table.update(clusterIndexKey(cluster), { set: { cluster, [importer]: 1 } });
  const isMember = importsAnything({ clusterset: membership }) || exportsAnything({ clusterset: membership });
  const set = { [attribute]: JSON.stringify(membership), [memberAttribute]: isMember ? 1 : 0, [modeAttributes.owesWaking]: 1 };
  const change = { set, add: { [modeAttributes.count]: 1 } };
  return (await table.update(metaKey(cluster), change, isRegistered)) !== undefined;
}

export async function listImporters(table: Table): Promise<readonly string[]> {
  return (await table.query('CLUSTERS')).filter((item) => item[importer] === 1).map((item) => item.sk);
}
