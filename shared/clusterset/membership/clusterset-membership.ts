/**
 * The membership of a cluster in a set: the namespaces that it may export, and whether it imports
 * (docs/use/clusterset.md).
 */

import type { ClusterState } from '#shared/clusters/record.ts';
import { isRegistered, memberAttribute, modeAttributes } from '#shared/clusters/writer/mode.ts';
import {
  type ClustersetMembership,
  type MemberExports,
  noMembership,
} from '#shared/clusterset/contract/clusterset-settings.ts';
import { importerKey, importersPartition, metaKey, unescaped } from '#shared/store/keys.ts';
import { type Item, type Table, textIn, type Value } from '#shared/store/table.ts';

const attribute = 'clusterset';
/** Attributes of a membership in the cluster's record. */
export const membershipNames = [attribute, memberAttribute] as const;

type Member = Pick<ClusterState, 'clusterset'>;

/**
 * Returns the membership of a cluster. Its record has none if the cluster neither exports nor imports. Throws
 * if it is damaged, because without a membership the hub would withdraw every export.
 */
export function membershipOf({ clusterset: stored }: Member): ClustersetMembership {
  if (stored === undefined) return noMembership;
  const membership = JSON.parse(stored) as Partial<ClustersetMembership> | null;
  if (membership?.exports?.namespaces === undefined || membership.imports === undefined)
    throw new Error(
      `the clusterset membership of a cluster's record is ${stored.slice(0, 80)}: exports and imports are needed`,
    );
  return membership as ClustersetMembership;
}

/** The membership in the item of a cluster's record. */
export const storedMembership = (item: Item): Member => ({
  clusterset: textIn(item, attribute),
});

/** Returns true if the cluster has ever been a member of a set. */
export const isMember = ({ clusterset }: Member): boolean => clusterset !== undefined;

type Switches = Pick<ClustersetMembership, 'imports' | 'exports'>;

export const exportsAnyOf = ({ exports }: Switches): boolean =>
  exports.namespaces === 'all' || exports.namespaces.length > 0;
export const importsAnyOf = ({ imports }: Switches): boolean => imports !== 'off';
export const exportsAnything = (cluster: Member): boolean => exportsAnyOf(membershipOf(cluster));
export const importsAnything = (cluster: Member): boolean => importsAnyOf(membershipOf(cluster));

/** Returns true if the cluster's switches let it export Services of the namespace. */
export const mayExport = ({ exports: { namespaces } }: ClustersetMembership, namespace: string): boolean =>
  namespaces === 'all' || namespaces.includes(namespace);

/** Formats the namespaces for people. */
export const namespacesText = ({ namespaces }: Pick<MemberExports, 'namespaces'>): string =>
  namespaces === 'all' ? 'all' : namespaces.length === 0 ? 'none' : namespaces.join(',');

/**
 * Changes the membership and schedules a wake-up of every service. Resolves to false if the cluster is
 * unknown or deregistered.
 */
export async function saveMembership(
  table: Table,
  cluster: string,
  membership: ClustersetMembership,
): Promise<boolean> {
  await noteImporter(table, cluster, membership);
  const change = {
    set: { ...membershipAttributes(membership), [modeAttributes.wakesPending]: 1 },
    add: { [modeAttributes.count]: 1 },
  };
  return (await table.update(metaKey(cluster), change, isRegistered)) !== undefined;
}

/**
 * Call before the record changes. An export in between then wakes the importer in vain, while the opposite
 * order would miss it.
 */
export async function noteImporter(
  table: Table,
  cluster: string,
  { imports }: ClustersetMembership,
): Promise<void> {
  if (imports !== 'off') await table.put({ ...importerKey(cluster) });
}

export function membershipAttributes(membership: ClustersetMembership): {
  readonly [attribute: string]: Value;
} {
  const isWrittenFor = membership.imports === 'active' || exportsAnyOf(membership);
  return { [attribute]: JSON.stringify(membership), [memberAttribute]: isWrittenFor ? 1 : 0 };
}

/**
 * Returns present and former importers, in the order of their ids. Their own records have their current
 * state.
 */
export async function listImporters(table: Table): Promise<readonly string[]> {
  return (await table.query(importersPartition)).map((item) => unescaped(item.sk));
}
