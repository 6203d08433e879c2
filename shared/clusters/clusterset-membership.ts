/** What a cluster has to do with the others of its set: what it may export, and whether it imports (docs/clusterset.md). */
import { type ClustersetMembership, type MemberExports, noMembership } from '#shared/contract/clusterset-settings.ts';
import { clusterIndexKey, metaKey, unescaped } from '#shared/store/keys.ts';
import type { Item, Table, Value } from '#shared/store/table.ts';
import { isRegistered, memberAttribute, modeAttributes } from './mode.ts';

export type { ClustersetMembership } from '#shared/contract/clusterset-settings.ts';
export { noMembership } from '#shared/contract/clusterset-settings.ts';

const attribute = 'clusterset';
/** The attributes of a record that a membership is in. */
export const membershipNames = [attribute, memberAttribute] as const;

/**
 * Decodes the membership of a cluster's record; the attribute is absent for a cluster that takes no part in a set. Throws for a damaged one: as no
 * membership it would withdraw every export.
 */
export function decodeMembership({ [attribute]: stored }: Item): ClustersetMembership {
  if (typeof stored !== 'string') return noMembership;
  const membership = JSON.parse(stored) as Partial<ClustersetMembership> | null;
  if (membership?.exports?.namespaces === undefined || membership.imports === undefined)
    throw new Error(`the clusterset membership of a cluster's record is ${stored.slice(0, 80)}: exports and imports are needed`);
  return membership as ClustersetMembership;
}

/** Has the cluster ever been let into a set? */
export const isMember = ({ clusterset }: Member): boolean => clusterset !== noMembership;

interface Member {
  readonly clusterset: ClustersetMembership;
}

export const exportsAnything = ({ clusterset: { exports } }: Member): boolean => exports.namespaces === 'all' || exports.namespaces.length > 0;
export const importsAnything = ({ clusterset: { imports } }: Member): boolean => imports !== 'off';

/** Do the cluster's switches let it export Services of the namespace? */
export const mayExport = ({ clusterset: { exports } }: Member, namespace: string): boolean =>
  exports.namespaces === 'all' || exports.namespaces.includes(namespace);

/** For people. */
export const namespacesText = ({ namespaces }: Pick<MemberExports, 'namespaces'>): string =>
  namespaces === 'all' ? 'all' : namespaces.length === 0 ? 'none' : namespaces.join(',');

/** In the index of clusters: those that import, or did. Their own records say which of them still do. */
const importer = 'importer';

/** Changes the membership and owes a wake-up to every service. False: the cluster is not known, or was taken out of the configuration. */
export async function saveMembership(table: Table, cluster: string, membership: ClustersetMembership): Promise<boolean> {
  await noteImporter(table, cluster, membership);
  const change = { set: { ...membershipAttributes(membership), [modeAttributes.owesWaking]: 1 }, add: { [modeAttributes.count]: 1 } };
  return (await table.update(metaKey(cluster), change, isRegistered)) !== undefined;
}

/** To be done before its record says so: an export that comes in between wakes the importer in vain, and not the other way round. */
export async function noteImporter(table: Table, cluster: string, { imports }: ClustersetMembership): Promise<void> {
  if (imports !== 'off') await table.update(clusterIndexKey(cluster), { set: { cluster, [importer]: 1 } });
}

export function membershipAttributes(membership: ClustersetMembership): { readonly [attribute: string]: Value } {
  const isWrittenFor = membership.imports === 'active' || exportsAnything({ clusterset: membership });
  return { [attribute]: JSON.stringify(membership), [memberAttribute]: isWrittenFor ? 1 : 0 };
}

export async function listImporters(table: Table): Promise<readonly string[]> {
  return (await table.query('CLUSTERS')).filter((item) => item[importer] === 1).map((item) => unescaped(item.sk));
}
