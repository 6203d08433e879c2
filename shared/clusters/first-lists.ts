/**
 * The first lists of an incarnation, one of each kind: no run begins before all of them are applied (upstream's HasSynced). And the lists that
 * sweep has to make itself, because a relay's list would take too much away.
 */
import { allKinds, type ClustersetKind, type CoreKind, clustersetKinds, type InputKind, inputKinds, type Kind, kinds } from '#shared/kube/types.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { isStrict, type Switches } from './mode.ts';
import { type ClusterIncarnation, isIncarnation, type UnverifiedSession } from './sessions.ts';

export interface ListsState {
  /** By kind: the incarnation whose first list has been applied whole; 0 for none. */
  readonly firstListOf: { readonly [K in CoreKind]: number } & { readonly [K in ClustersetKind]?: number };
  /** Kinds of which sweep has to make a list. */
  readonly ownListsWanted: readonly InputKind[];
}

const firstListAttribute = (kind: Kind): string => `synced_${kind}`;
const ownListAttribute = (kind: InputKind): string => `confirm_${kind}`;

export const decodeLists = (item: Item): ListsState => ({
  firstListOf: Object.fromEntries(allKinds.map((kind) => [kind, item[firstListAttribute(kind)] ?? 0])) as ListsState['firstListOf'],
  ownListsWanted: [...inputKinds, ...clustersetKinds].filter((kind) => item[ownListAttribute(kind)] === 1),
});

interface Lists {
  readonly incarnation: number;
  readonly lists: ListsState;
}

export const missingFirstLists = ({ incarnation, lists }: Lists): readonly Kind[] => kinds.filter((kind) => lists.firstListOf[kind] !== incarnation);

/**
 * Has the first list of every kind been applied, so that runs may begin (upstream's HasSynced)? Not while a session is unbound: the lists that the
 * runs would read may be of another cluster, or of a history that counts no more, and take away addresses that exist. In shadow mode
 * without opt-in nothing is written.
 */
export const hasSynced = (cluster: Lists & Switches & { readonly unverified: UnverifiedSession | undefined }): boolean =>
  missingFirstLists(cluster).length === 0 && (cluster.unverified?.state !== 'unbound' || !isStrict(cluster));

/** Wait of a run for the first lists: 1 s, doubled with each round up to 30 s. */
export const firstListsSeconds = (rounds: number): number => Math.min(2 ** rounds, longestFirstListsSeconds);

export const longestFirstListsSeconds = 30;

/** The kind's first list of this incarnation is applied whole, unless the next incarnation has begun. */
export async function markFirstListApplied(table: Table, { id, incarnation }: ClusterIncarnation, kind: Kind): Promise<void> {
  await table.update(metaKey(id), { set: { [firstListAttribute(kind)]: incarnation } }, isIncarnation(incarnation));
}

/** A list that takes much away waits for a list of our own. False: it is requested already. */
export async function requestOwnList(table: Table, cluster: string, kind: InputKind): Promise<boolean> {
  const attribute = ownListAttribute(kind);
  return (await table.update(metaKey(cluster), { set: { [attribute]: 1 } }, { absent: attribute })) !== undefined;
}

export async function clearOwnListRequest(table: Table, cluster: string, kind: InputKind): Promise<void> {
  await table.update(metaKey(cluster), { remove: [ownListAttribute(kind)] });
}
