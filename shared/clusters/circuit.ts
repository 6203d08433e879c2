/**
 * The circuit to a cluster. It opens when the cluster does not answer or refuses us: then no run asks the cluster before a time, and after it one
 * run at a time probes. A probe that is answered closes the circuit, and the load is ramped up from there.
 */
import { requeueDefaults, requeueSeconds } from '#shared/contract/requeue-limits.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { isWrittenTo, type Switches, writesAnything } from './mode.ts';

export type CircuitReason = 'unreachable' | 'server-error' | 'throttled' | 'unauthorized' | 'forbidden';

export interface Circuit {
  readonly reason: CircuitReason;
  /** Failures in a row, for the back-off. */
  readonly failures: number;
  /** Before it no run asks the cluster; after it one probe at a time does. */
  readonly untilMs: number;
}

export interface CircuitState {
  /** Undefined: closed. */
  readonly circuit: Circuit | undefined;
  /** When the circuit was closed last; 0 for never. */
  readonly recoveredAtMs: number;
}

/** Why the cluster could not be asked. `retryAfterSeconds`: the wait that a throttling cluster has asked for. */
export interface ClusterFailure {
  readonly reason: CircuitReason;
  readonly retryAfterSeconds: number | undefined;
}

/** The circuit after one more failure. */
export function nextCircuit(circuit: Circuit | undefined, { reason, retryAfterSeconds }: ClusterFailure, nowMs: number): Circuit {
  const failures = (circuit?.failures ?? 0) + 1;
  const pauseSeconds = retryAfterSeconds ?? requeueSeconds(requeueDefaults.circuitOpen, failures - 1, 0);
  return { reason, failures, untilMs: nowMs + pauseSeconds * 1000 };
}

/** How long the run that has met the failure waits: never less than the circuit, and spread. */
export const secondsAfterFailure = ({ failures }: Circuit, { retryAfterSeconds }: ClusterFailure, random: number): number =>
  retryAfterSeconds === undefined
    ? requeueSeconds(requeueDefaults.circuitOpen, failures - 1, random)
    : Math.max(1, Math.ceil(retryAfterSeconds * (1 + random)));

/** Share of the work that runs after a recovery: 1/64 at once, doubled every 5 s, all of it after 30 s. The rest waits a little longer. */
export const rampShare = (msSinceRecovery: number): number => Math.min(1, 2 ** (msSinceRecovery / 5000) / 64);

const circuitAttribute = 'circuit';
const probe = { by: 'probe', untilMs: 'probeUntil' } as const;
const recoveredAt = 'recoveredAt';

/** A switch of mode forgets them. */
export const circuitAttributes = [circuitAttribute, ...Object.values(probe)] as const;

/** The text is compared, so that one of several workers changes the circuit. */
const encode = ({ reason, failures, untilMs }: Circuit): string => JSON.stringify({ reason, failures, until: untilMs });

/** Where nothing is written no run asks the API, so no run would close the circuit. */
export function decodeCircuit(item: Item, switches: Switches): CircuitState {
  const text = item[circuitAttribute];
  const recoveredAtMs = (item[recoveredAt] as number | undefined) ?? 0;
  if (!writesAnything(switches) || typeof text !== 'string') return { circuit: undefined, recoveredAtMs };
  const { reason, failures, until } = JSON.parse(text) as { readonly reason: CircuitReason; readonly failures: number; readonly until: number };
  return { circuit: { reason, failures, untilMs: until }, recoveredAtMs };
}

interface ClusterCircuit {
  readonly id: string;
  readonly circuit: Circuit | undefined;
}

const isAsRead = (circuit: Circuit) => ({ attribute: circuitAttribute, is: '=', value: encode(circuit) }) as const;

/**
 * Opens the circuit, or keeps it open for longer. Only the first worker to meet a failure, or the one that probed, counts: others find the circuit
 * changed and leave it. So does a run that a switch of mode has overtaken: where nothing is written, no run would close the circuit again.
 */
export async function openCircuit(table: Table, { id, circuit }: ClusterCircuit, next: Circuit): Promise<void> {
  const change = { set: { [circuitAttribute]: encode(next) }, remove: Object.values(probe) };
  await table.update(metaKey(id), change, { all: [isWrittenTo, circuit ? isAsRead(circuit) : { absent: circuitAttribute }] });
}

/** Makes this worker the one that probes. False: another one does, or the circuit is not as it was read. */
export async function claimProbe(
  table: Table,
  { id, circuit }: ClusterCircuit,
  claim: { readonly by: string; readonly nowMs: number; readonly untilMs: number },
): Promise<boolean> {
  if (!circuit) return false;
  const isFree = { any: [{ absent: probe.by }, { attribute: probe.untilMs, is: '<', value: claim.nowMs } as const] };
  const change = { set: { [probe.by]: claim.by, [probe.untilMs]: claim.untilMs } };
  return (await table.update(metaKey(id), change, { all: [isAsRead(circuit), isFree] })) !== undefined;
}

/** The cluster has answered. False: the circuit is not as it was read. */
export async function closeCircuit(table: Table, { id, circuit }: ClusterCircuit, nowMs: number): Promise<boolean> {
  if (!circuit) return false;
  const change = { set: { [recoveredAt]: nowMs }, remove: circuitAttributes };
  return (await table.update(metaKey(id), change, isAsRead(circuit))) !== undefined;
}
