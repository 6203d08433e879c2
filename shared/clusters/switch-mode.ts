/** What changes a cluster's mode, and its switch for Services that opt in. */
import type { OptIn } from '#shared/opt-in/writer.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { circuitAttributes } from './circuit.ts';
import { type ChosenMode, isMode, isRegistered } from './mode.ts';
import { writerConflictAttributes } from './writer-conflict.ts';

/**
 * Switches the mode and owes a wake-up to every service: settings first, or a run could use up the wake-up in the former mode; then the waking,
 * which sweep finishes if the caller does not. A pause owes none: no run has anything to do, and the switch back wakes all. Resolves to false
 * when the cluster is not known, or has left.
 */
export async function switchMode(table: Table, cluster: string, mode: ChosenMode, now = Date.now()): Promise<boolean> {
  const set = { mode, wakeAll: mode === 'paused' ? 0 : 1, modeSince: now };
  const change = {
    set,
    add: { epoch: 1 },
    remove: [...writerConflictAttributes, ...circuitAttributes, ...(mode === 'paused' ? [] : ['wasActive'])],
  };
  const pause = { ...change, set: { ...set, wasActive: 1 } };
  if (mode === 'paused' && (await table.update(metaKey(cluster), pause, isMode('active')))) return true;
  return (await table.update(metaKey(cluster), change, isRegistered)) !== undefined;
}

/**
 * Switches whether Services that opt in are written, and owes a wake-up to every service, as a switch of mode does. A paused cluster is woken by its
 * switch back.
 */
export async function switchOptIn(table: Table, cluster: string, optIn: OptIn, now = Date.now()): Promise<boolean> {
  const set = { optIn, optInSince: now };
  const woken = { add: { epoch: 1 }, set: { ...set, wakeAll: 1 } };
  // What others write of an active cluster's own endpoints is no matter of this switch.
  const inShadow = { ...woken, remove: [...writerConflictAttributes, ...circuitAttributes] };
  if (await table.update(metaKey(cluster), { add: { epoch: 1 }, set }, isMode('paused'))) return true;
  if (await table.update(metaKey(cluster), inShadow, isMode('shadow'))) return true;
  return (await table.update(metaKey(cluster), woken, isRegistered)) !== undefined;
}

/** The cluster has left: nothing is written from the next run of each service on, and its endpoints stay as they are. False when it had left before, or never was. */
export async function drainCluster(table: Table, cluster: string, now = Date.now()): Promise<boolean> {
  const change = { set: { mode: 'draining', modeSince: now }, add: { epoch: 1 } };
  return (await table.update(metaKey(cluster), change, isRegistered)) !== undefined;
}

export async function noteReady(table: Table, cluster: string, now: number): Promise<void> {
  await table.update(metaKey(cluster), { set: { readyAt: now } }, isRegistered);
}
