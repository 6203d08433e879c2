/**
 * The first lists of an incarnation, one of each kind. No run begins before all of them are applied
 * (upstream's HasSynced). Also the requests for sweep's own lists, if a relay's list would delete too much.
 */

import {
  allKinds,
  type ClustersetKind,
  type CoreKind,
  clustersetKinds,
  type InputKind,
  inputKinds,
  type Kind,
  kinds,
} from '#shared/kube/types.ts';
import { metaKey } from '#shared/store/keys.ts';
import { absentOr, type Item, type Table, type WriteCondition } from '#shared/store/table.ts';
import type { Version } from '#shared/store/version.ts';
import { type Switches, servesFromSnapshot } from '../writer/mode.ts';
import { type ClusterIncarnation, isIncarnation, type UnverifiedSession } from './sessions.ts';

export interface ListsState {
  /** The incarnation whose first list is completely applied, by kind. 0 without one. */
  readonly firstListOf: { readonly [K in CoreKind]: number } & { readonly [K in ClustersetKind]?: number };
  /** Kinds that sweep must list itself. */
  readonly ownListsWanted: readonly InputKind[];
  /**
   * Ingest has skipped wake-ups because no run could begin. Everything is woken once the first lists are
   * complete.
   */
  readonly suppressesWakeUps: boolean;
  /** The newest list whose records were written without marks of pending notifications, by kind. */
  readonly begun: { readonly [K in CoreKind]?: Version };
}

const firstListAttribute = (kind: Kind): string => `firstList_${kind}`;
const ownListAttribute = (kind: InputKind): string => `confirm_${kind}`;
/** The version of the newest list that waits for sweep's own list. */
const awaitingAttribute = (kind: InputKind): string => `confirmAt_${kind}`;
const begunAttribute = (kind: Kind): string => `begun_${kind}`;
/** 1 while ingest skips wake-ups. */
export const heldAttribute = 'heldWakeUps';

export const decodeLists = (item: Item): ListsState => ({
  firstListOf: Object.fromEntries(
    allKinds.map((kind) => [kind, item[firstListAttribute(kind)] ?? 0]),
  ) as ListsState['firstListOf'],
  ownListsWanted: [...inputKinds, ...clustersetKinds].filter((kind) => item[ownListAttribute(kind)] === 1),
  suppressesWakeUps: item[heldAttribute] === 1,
  begun: Object.fromEntries(
    kinds.flatMap((kind) =>
      item[begunAttribute(kind)] === undefined ? [] : [[kind, item[begunAttribute(kind)] as Version]],
    ),
  ),
});

interface Lists {
  readonly incarnation: number;
  readonly lists: ListsState;
}

export const missingFirstLists = ({ incarnation, lists }: Lists): readonly Kind[] =>
  kinds.filter((kind) => lists.firstListOf[kind] !== incarnation);

/**
 * Returns true if the first list of every kind is applied, so runs may begin (upstream's HasSynced). Returns
 * false while a session is unbound: the lists may be of another cluster or of an outdated history, and would
 * remove existing addresses. Shadow mode without opt-in never writes, so an unbound session does not matter
 * there.
 */
export const hasSynced = (
  cluster: Lists & Switches & { readonly unverified: UnverifiedSession | undefined },
): boolean =>
  missingFirstLists(cluster).length === 0 &&
  (cluster.unverified?.state !== 'unbound' || !servesFromSnapshot(cluster));

/**
 * Kinds without whose first list exports or imports do not run. The cluster's own services run all the same:
 * the relay may have no right to list them.
 */
const setKinds = ['Namespace', 'ServiceExport'] as const satisfies readonly ClustersetKind[];
const isSetKind = (kind: Kind): boolean => (setKinds as readonly Kind[]).includes(kind);

export const missesSetLists = ({ incarnation, lists }: Lists): boolean =>
  setKinds.some((kind) => lists.firstListOf[kind] !== incarnation);

/**
 * Marks the kind's first list of this incarnation as applied. Does nothing if the next incarnation has begun,
 * or a newer list of the kind (beginFirstList), which is then the first list. The first list of a set kind
 * wakes everything: earlier runs of exports and imports have ended as done.
 */
export async function markFirstListApplied(
  table: Table,
  { id, incarnation }: ClusterIncarnation,
  kind: Kind,
  version: Version,
): Promise<void> {
  const all = [isIncarnation(incarnation), absentOr(begunAttribute(kind), '<=', version)];
  if (isSetKind(kind)) {
    const change = { set: { [firstListAttribute(kind)]: incarnation, [heldAttribute]: 1 } };
    await table.update(metaKey(id), change, { all: [...all, isMissing(kind, incarnation)] });
  } else await table.update(metaKey(id), { set: { [firstListAttribute(kind)]: incarnation } }, { all });
}

const isMissing = (kind: Kind, incarnation: number): WriteCondition =>
  absentOr(firstListAttribute(kind), '<', incarnation);

type Incarnation = ClusterIncarnation & Lists;

/**
 * Call before writing a page of a first list. Resolves to true if its records need no marks of pending
 * notifications: every service is woken once this list, or a newer one, is completely applied.
 */
export async function beginFirstList(
  table: Table,
  { id, incarnation, lists }: Incarnation,
  kind: Kind,
  version: Version,
): Promise<boolean> {
  if (!isCoreKind(kind) || lists.firstListOf[kind] === incarnation) return false;
  if (lists.suppressesWakeUps && lists.begun[kind] === version) return true;
  const attribute = begunAttribute(kind);
  const isNewest = absentOr(attribute, '<=', version);
  const change = { set: { [heldAttribute]: 1, [attribute]: version } };
  return (
    (await table.update(metaKey(id), change, {
      all: [isIncarnation(incarnation), isMissing(kind, incarnation), isNewest],
    })) !== undefined
  );
}

const isCoreKind = (kind: Kind): kind is CoreKind => (kinds as readonly Kind[]).includes(kind);

/**
 * Resolves to true if wake-ups for writes before the read of the record may be skipped, because a first list
 * is missing. No run can begin until the list is applied, and then every service is woken.
 */
export async function holdWakeUps(table: Table, { id, incarnation, lists }: Incarnation): Promise<boolean> {
  const [kind] = missingFirstLists({ incarnation, lists });
  if (kind === undefined) return false;
  if (lists.suppressesWakeUps) return true;
  return (
    (await table.update(
      metaKey(id),
      { set: { [heldAttribute]: 1 } },
      { all: [isIncarnation(incarnation), isMissing(kind, incarnation)] },
    )) !== undefined
  );
}

/**
 * Requests sweep's own list, because a relay's list of that version would delete too much. Resolves to false
 * if a request exists already.
 */
export async function requestOwnList(
  table: Table,
  cluster: string,
  kind: InputKind,
  version: Version,
): Promise<boolean> {
  const [requested, awaiting] = [ownListAttribute(kind), awaitingAttribute(kind)];
  const request = { set: { [requested]: 1, [awaiting]: version } };
  if (await table.update(metaKey(cluster), request, { absent: requested })) return true;
  // Sweep may be reading its own list already, as of an older version.
  await table.update(metaKey(cluster), request, {
    any: [{ absent: requested }, absentOr(awaiting, '<', version)],
  });
  return false;
}

/** `version`: of sweep's own list. A request for a newer list stays. */
export async function clearOwnListRequest(
  table: Table,
  cluster: string,
  kind: InputKind,
  version: Version,
): Promise<void> {
  const awaiting = awaitingAttribute(kind);
  await table.update(
    metaKey(cluster),
    { remove: [ownListAttribute(kind), awaiting] },
    absentOr(awaiting, '<=', version),
  );
}
