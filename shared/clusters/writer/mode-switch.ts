/**
 * Switches of a cluster's mode and of its setting for Services that opt in, and the wake-up of every service
 * after each switch.
 */

import type { OptIn } from '#shared/controllers/opt-in/writer.ts';
import { metaKey, type WorkKey } from '#shared/store/keys.ts';
import type { Change, Table, WriteCondition } from '#shared/store/table.ts';
import { circuitAttributes } from '../circuit.ts';
import { type ClusterRecord, readCluster } from '../record.ts';
import { hasSynced, heldAttribute } from '../relay/first-lists.ts';
import { isIncarnation } from '../relay/sessions.ts';
import {
  type ChosenMode,
  type ClusterSwitch,
  hasRuns,
  isMode,
  isRegistered,
  isSwitch,
  isWithRuns,
  modeAttributes,
  optInAttributes,
} from './mode.ts';
import { writerConflictAttributes } from './writer-conflict.ts';

const { mode: modeAttribute, count, atMs, wakesPending, wokenTo, wasActive } = modeAttributes;

/**
 * Switches the mode and schedules a wake-up of every service. The switch comes first, because a run could use
 * up the wake-up in the former mode. Sweep finishes the wake-ups if the caller does not. A pause schedules
 * none, because runs do nothing and the switch back wakes every service. Resolves to false if the cluster is
 * unknown or deregistered.
 */
export async function switchMode(
  table: Table,
  cluster: string,
  mode: ChosenMode,
  nowMs: number,
): Promise<boolean> {
  const set = { [modeAttribute]: mode, [wakesPending]: mode === 'paused' ? 0 : 1, [atMs]: nowMs };
  const change = {
    set,
    add: { [count]: 1 },
    remove: [...writerConflictAttributes, ...circuitAttributes, ...(mode === 'paused' ? [] : [wasActive])],
  };
  const pause = { ...change, set: { ...set, [wasActive]: 1 } };
  if (mode === 'paused' && (await table.update(metaKey(cluster), pause, isMode('active')))) return true;
  return (await table.update(metaKey(cluster), change, isRegistered)) !== undefined;
}

/**
 * Switches whether Services that opt in are written, and schedules a wake-up of every service like a switch
 * of mode. In a paused cluster the switch back wakes every service.
 */
export async function switchOptIn(
  table: Table,
  cluster: string,
  optIn: OptIn,
  nowMs: number,
): Promise<boolean> {
  const set = { [optInAttributes.optIn]: optIn, [optInAttributes.since]: nowMs };
  const remove = [optInAttributes.withdraws, optInAttributes.abandons];
  const woken = { add: { [count]: 1 }, set: { ...set, [wakesPending]: 1 }, remove };
  // In an active cluster the writer conflict and the circuit stay, because they also concern the Services
  // with a selector.
  const inShadow = { ...woken, remove: [...remove, ...writerConflictAttributes, ...circuitAttributes] };
  if (await table.update(metaKey(cluster), { add: { [count]: 1 }, set, remove }, isMode('paused')))
    return true;
  if (await table.update(metaKey(cluster), inShadow, isMode('shadow'))) return true;
  return (await table.update(metaKey(cluster), woken, isRegistered)) !== undefined;
}

/**
 * Makes runs delete the slices of Services that opt in, independent of the former switch, with the
 * preconditions of `active`. The next switch ends this. Resolves to false if the cluster is paused or
 * deregistered.
 */
export async function withdrawOptIn(table: Table, cluster: string, nowMs: number): Promise<boolean> {
  const { optIn, since, withdraws } = optInAttributes;
  const change = {
    add: { [count]: 1 },
    set: { [optIn]: 'active', [since]: nowMs, [withdraws]: 1, [wakesPending]: 1 },
  };
  return (await table.update(metaKey(cluster), change, isWithRuns)) !== undefined;
}

/**
 * Lets the cluster be deregistered with slices by opt-in that nobody will follow, until the next switch.
 * Resolves to false if opt-in is not off.
 */
export async function abandonOptIn(table: Table, cluster: string): Promise<boolean> {
  const { optIn, abandons } = optInAttributes;
  return (
    (await table.update(
      metaKey(cluster),
      { set: { [abandons]: 1 } },
      { all: [isRegistered, { attribute: optIn, is: '=', value: 'off' }] },
    )) !== undefined
  );
}

/**
 * Deregisters the cluster: later runs do not write, and its endpoints stay as they are. Resolves to false if
 * it is deregistered already.
 */
export async function drainCluster(table: Table, cluster: string, nowMs: number): Promise<boolean> {
  const change = { set: { [modeAttribute]: 'draining', [atMs]: nowMs }, add: { [count]: 1 } };
  return (await table.update(metaKey(cluster), change, isRegistered)) !== undefined;
}

/**
 * Schedules a wake-up of every service after the first lists are complete, like a switch of mode. Wake-ups
 * under way begin again, because services may have been added behind their position. Resolves to the changed
 * record, or to undefined if no wake-ups are held, or if a list is missing.
 */
export async function markWakesAfterFirstLists(
  table: Table,
  cluster: ClusterRecord,
): Promise<ClusterRecord | undefined> {
  const { id, incarnation, lists } = cluster;
  if (!lists.suppressesWakeUps || !hasSynced(cluster) || !hasRuns(cluster)) return undefined;
  const areHeld: WriteCondition = {
    all: [isIncarnation(incarnation), { attribute: heldAttribute, is: '=', value: 1 }],
  };
  const change: Change = { set: { [wakesPending]: 1 }, add: { [count]: 1 }, remove: [heldAttribute] };
  return (await table.update(metaKey(id), change, areHeld)) && readCluster(table, id);
}

/** How far the wake-ups of the last switch have come. */
export interface Waking<Place> {
  /** The walk over the services continues here. Undefined: it has passed all of them. */
  readonly place: Place | undefined;
  /** The work behind this position that the table refused to add. */
  readonly refused: readonly RefusedWork[];
}

export type RefusedWork = Omit<WorkKey, 'cluster'>;

/** Returns how far the wake-ups of the last switch have come, or undefined if they have not begun. */
export function wakingSoFar<Place>({
  wokenTo: text,
  count: current,
}: ClusterRecord['modeSwitch']): Waking<Place> | undefined {
  const kept =
    text === undefined
      ? undefined
      : (JSON.parse(text) as Partial<Waking<Place>> & { readonly count: number });
  return kept?.count === current ? { place: kept.place, refused: kept.refused ?? [] } : undefined;
}

/** Returns true if a walk over all services, with their tombstones, is still to begin or to continue. */
export function isWalkPending(modeSwitch: ClusterRecord['modeSwitch']): boolean {
  const waking = wakingSoFar(modeSwitch);
  return modeSwitch.wakesPending && (waking === undefined || waking.place !== undefined);
}

/** Returns true if the work is woken for the last switch, although others may still be refused. */
export function isWoken(
  modeSwitch: ClusterRecord['modeSwitch'],
  { namespace, kind, name }: RefusedWork,
): boolean {
  if (!modeSwitch.wakesPending) return true;
  const refused = isWalkPending(modeSwitch) ? undefined : wakingSoFar(modeSwitch)?.refused;
  return (
    refused !== undefined &&
    !refused.some((r) => r.namespace === namespace && r.kind === kind && r.name === name)
  );
}

/**
 * Saves how far the wake-ups have come. Resolves to false after another switch, which has wake-ups of its
 * own.
 */
export async function recordWaking(
  table: Table,
  { id, modeSwitch }: ClusterSwitch,
  { place, refused }: Waking<object>,
): Promise<boolean> {
  const isDone = place === undefined && refused.length === 0;
  const kept = { count: modeSwitch.count, place, ...(refused.length > 0 && { refused }) };
  const change: Change = isDone
    ? { set: { [wakesPending]: 0 }, remove: [wokenTo] }
    : { set: { [wokenTo]: JSON.stringify(kept) } };
  return (await table.update(metaKey(id), change, isSwitch(modeSwitch))) !== undefined;
}
