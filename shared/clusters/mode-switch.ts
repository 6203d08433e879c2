/** What changes a cluster's mode and its switch for Services that opt in, and the waking of every service that each switch owes. */
import type { OptIn } from '#shared/opt-in/writer.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Change, Condition, Table } from '#shared/store/table.ts';
import { circuitAttributes } from './circuit.ts';
import { heldAttribute } from './first-lists.ts';
import { type ChosenMode, type ClusterSwitch, isMode, isRegistered, isSwitch, type ModeSwitch, modeAttributes, optInAttributes } from './mode.ts';
import { type ClusterIncarnation, isIncarnation } from './sessions.ts';
import { writerConflictAttributes } from './writer-conflict.ts';

const { mode: modeAttribute, count, atMs, owesWaking, wokenTo, wasActive } = modeAttributes;

/**
 * Switches the mode and owes a wake-up to every service: settings first, or a run could use up the wake-up in the former mode; then the waking,
 * which sweep finishes if the caller does not. A pause owes none: no run has anything to do, and the switch back wakes all. Resolves to false
 * when the cluster is not known, or was taken out of the configuration.
 */
export async function switchMode(table: Table, cluster: string, mode: ChosenMode, nowMs = Date.now()): Promise<boolean> {
  const set = { [modeAttribute]: mode, [owesWaking]: mode === 'paused' ? 0 : 1, [atMs]: nowMs };
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
 * Switches whether Services that opt in are written, and owes a wake-up to every service, as a switch of mode does. A paused cluster is woken by its
 * switch back.
 */
export async function switchOptIn(table: Table, cluster: string, optIn: OptIn, nowMs = Date.now()): Promise<boolean> {
  const set = { [optInAttributes.optIn]: optIn, [optInAttributes.since]: nowMs };
  const remove = [optInAttributes.withdraws];
  const woken = { add: { [count]: 1 }, set: { ...set, [owesWaking]: 1 }, remove };
  // What others write of an active cluster's own endpoints is no matter of this switch.
  const inShadow = { ...woken, remove: [...remove, ...writerConflictAttributes, ...circuitAttributes] };
  if (await table.update(metaKey(cluster), { add: { [count]: 1 }, set, remove }, isMode('paused'))) return true;
  if (await table.update(metaKey(cluster), inShadow, isMode('shadow'))) return true;
  return (await table.update(metaKey(cluster), woken, isRegistered)) !== undefined;
}

/**
 * Has the slices of Services that opt in deleted, whatever the switch was: runs delete with the rights and the care of `active`, and write none. The
 * next switch ends it. False in a cluster whose services do not run.
 */
export async function withdrawOptIn(table: Table, cluster: string, nowMs = Date.now()): Promise<boolean> {
  const { optIn, since, withdraws } = optInAttributes;
  const change = { add: { [count]: 1 }, set: { [optIn]: 'active', [since]: nowMs, [withdraws]: 1, [owesWaking]: 1 } };
  return (await table.update(metaKey(cluster), change, { any: [isMode('active'), isMode('shadow')] })) !== undefined;
}

/** The cluster was taken out of the configuration: no later run writes, and its endpoints stay as they are. False when it was so before. */
export async function drainCluster(table: Table, cluster: string, nowMs = Date.now()): Promise<boolean> {
  const change = { set: { [modeAttribute]: 'draining', [atMs]: nowMs }, add: { [count]: 1 } };
  return (await table.update(metaKey(cluster), change, isRegistered)) !== undefined;
}

/**
 * The first lists are complete, and wake-ups were held before: this schedules the waking of every service, as a switch of mode does. A waking that is under
 * way begins again, because services that it has passed may have come since. False: it is scheduled already, or a list is missing again.
 */
export async function wakeAllAfterFirstLists(table: Table, { id, incarnation }: ClusterIncarnation): Promise<boolean> {
  const areHeld: Condition = { all: [isIncarnation(incarnation), { attribute: heldAttribute, is: '=', value: 1 }] };
  const change: Change = { set: { [owesWaking]: 1 }, add: { [count]: 1 }, remove: [heldAttribute] };
  return (await table.update(metaKey(id), change, areHeld)) !== undefined;
}

/** Where the waking goes on that the last switch owes; undefined: at the beginning. */
export function wakingPlace<Place>({ wokenTo: text, count: current }: ModeSwitch): Place | undefined {
  const kept = text === undefined ? undefined : (JSON.parse(text) as { readonly epoch: number; readonly place: Place });
  return kept?.epoch === current ? kept.place : undefined;
}

/** `place`: where the waking goes on; undefined when every service is woken. False: another switch has come, which owes a waking of its own. */
export async function recordWaking(table: Table, { id, modeSwitch }: ClusterSwitch, place: object | undefined): Promise<boolean> {
  const change: Change = place
    ? { set: { [wokenTo]: JSON.stringify({ epoch: modeSwitch.count, place }) } }
    : { set: { [owesWaking]: 0 }, remove: [wokenTo] };
  return (await table.update(metaKey(id), change, isSwitch(modeSwitch))) !== undefined;
}
