/**
 * The first lists of an incarnation, one of each kind: no run begins before all of them are applied (upstream's HasSynced). And the lists that
 * sweep has to make itself, because a relay's list would take too much away.
 */
import { allKinds, type ClustersetKind, type CoreKind, clustersetKinds, type InputKind, inputKinds, type Kind, kinds } from '#shared/kube/types.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Condition, Item, Table } from '#shared/store/table.ts';
import type { Version } from '#shared/store/version.ts';
import { servesFromSnapshot, type Switches } from './mode.ts';
import { type ClusterIncarnation, isIncarnation, type UnverifiedSession } from './sessions.ts';

export interface ListsState {
  /** By kind: the incarnation whose first list has been applied whole; 0 for none. */
  readonly firstListOf: { readonly [K in CoreKind]: number } & { readonly [K in ClustersetKind]?: number };
  /** Kinds of which sweep has to make a list. */
  readonly ownListsWanted: readonly InputKind[];
  /** Ingest has sent no wake-ups for what it wrote, because no run could begin: every service is woken once the first lists are complete. */
  readonly suppressesWakeUps: boolean;
  /** By kind: the newest list of which records were written that say nothing of services to be notified. */
  readonly begun: { readonly [K in CoreKind]?: Version };
}

const firstListAttribute = (kind: Kind): string => `synced_${kind}`;
const ownListAttribute = (kind: InputKind): string => `confirm_${kind}`;
const begunAttribute = (kind: Kind): string => `begun_${kind}`;
/** 1 while wake-ups are held. */
export const heldAttribute = 'heldWakeUps';

export const decodeLists = (item: Item): ListsState => ({
  firstListOf: Object.fromEntries(allKinds.map((kind) => [kind, item[firstListAttribute(kind)] ?? 0])) as ListsState['firstListOf'],
  ownListsWanted: [...inputKinds, ...clustersetKinds].filter((kind) => item[ownListAttribute(kind)] === 1),
  suppressesWakeUps: item[heldAttribute] === 1,
  begun: Object.fromEntries(
    kinds.flatMap((kind) => (item[begunAttribute(kind)] === undefined ? [] : [[kind, item[begunAttribute(kind)] as Version]])),
  ),
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
  missingFirstLists(cluster).length === 0 && (cluster.unverified?.state !== 'unbound' || !servesFromSnapshot(cluster));

/**
 * The kind's first list of this incarnation is applied whole, unless the next incarnation has begun; or a newer list of the kind (beginFirstList),
 * which then is the first one.
 */
export async function markFirstListApplied(table: Table, { id, incarnation }: ClusterIncarnation, kind: Kind, version: Version): Promise<void> {
  const isNewest: Condition = { any: [{ absent: begunAttribute(kind) }, { attribute: begunAttribute(kind), is: '<=', value: version }] };
  await table.update(metaKey(id), { set: { [firstListAttribute(kind)]: incarnation } }, { all: [isIncarnation(incarnation), isNewest] });
}

const isMissing = (kind: Kind, incarnation: number): Condition => ({
  any: [{ absent: firstListAttribute(kind) }, { attribute: firstListAttribute(kind), is: '<', value: incarnation }],
});

type Incarnation = ClusterIncarnation & Lists;

/**
 * Before a part of a first list is written. True: its records need not say that services are to be notified. For the kind is missing until this list
 * is applied whole, or a newer one that says the same of each object; and then every service is woken.
 */
export async function beginFirstList(table: Table, { id, incarnation, lists }: Incarnation, kind: Kind, version: Version): Promise<boolean> {
  if (!isCoreKind(kind) || lists.firstListOf[kind] === incarnation) return false;
  if (lists.suppressesWakeUps && lists.begun[kind] === version) return true;
  const attribute = begunAttribute(kind);
  const isNewest: Condition = { any: [{ absent: attribute }, { attribute, is: '<=', value: version }] };
  const change = { set: { [heldAttribute]: 1, [attribute]: version } };
  return (await table.update(metaKey(id), change, { all: [isIncarnation(incarnation), isMissing(kind, incarnation), isNewest] })) !== undefined;
}

const isCoreKind = (kind: Kind): kind is CoreKind => (kinds as readonly Kind[]).includes(kind);

/**
 * May the wake-ups for what was written before the record was read be left out? True while a first list is missing: no run can begin before it is
 * applied, and then every service is woken.
 */
export async function holdWakeUps(table: Table, { id, incarnation, lists }: Incarnation): Promise<boolean> {
  const [kind] = missingFirstLists({ incarnation, lists });
  if (kind === undefined) return false;
  if (lists.suppressesWakeUps) return true;
  return (
    (await table.update(metaKey(id), { set: { [heldAttribute]: 1 } }, { all: [isIncarnation(incarnation), isMissing(kind, incarnation)] })) !==
    undefined
  );
}

/** A list that takes much away waits for a list of our own. False: it is requested already. */
export async function requestOwnList(table: Table, cluster: string, kind: InputKind): Promise<boolean> {
  const attribute = ownListAttribute(kind);
  return (await table.update(metaKey(cluster), { set: { [attribute]: 1 } }, { absent: attribute })) !== undefined;
}

export async function clearOwnListRequest(table: Table, cluster: string, kind: InputKind): Promise<void> {
  await table.update(metaKey(cluster), { remove: [ownListAttribute(kind)] });
}
