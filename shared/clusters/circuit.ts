/**
 * The circuit to a cluster. It opens when the cluster does not answer or refuses us. No run calls the API
 * until `untilMs`, and then one run at a time probes. A successful probe closes the circuit, and the load is
 * ramped up.
 */
import { requeueDefaults, requeueSeconds } from '#shared/contract/requeue-limits.ts';
import { metaKey } from '#shared/store/keys.ts';
import { type Item, numberOf, type Table } from '#shared/store/table.ts';
import { isWrittenTo, type Switches, writesAnything } from './writer/mode.ts';

export type CircuitReason = 'unreachable' | 'server-error' | 'throttled' | 'unauthorized' | 'forbidden';

export interface Circuit {
  readonly reason: CircuitReason;
  /** Failures in a row, for the back-off. */
  readonly failures: number;
  /** No run calls the API before this time, ms since the epoch. Then one run at a time probes. */
  readonly untilMs: number;
  /** The text as it was read. Another version of the hub may have written further fields. */
  readonly text?: string;
}

export interface CircuitState {
  /** Undefined if the circuit is closed. */
  readonly circuit: Circuit | undefined;
  /** Time when the circuit was last closed, ms since the epoch, or 0. */
  readonly recoveredAtMs: number;
}

/**
 * A failed call of the cluster's API. `retryAfterSeconds` is the wait that a throttling API server requests.
 */
export interface ClusterFailure {
  readonly reason: CircuitReason;
  readonly retryAfterSeconds: number | undefined;
}

/** Returns the circuit after one more failure. */
export function nextCircuit(
  circuit: Circuit | undefined,
  { reason, retryAfterSeconds }: ClusterFailure,
  nowMs: number,
): Circuit {
  const failures = (circuit?.failures ?? 0) + 1;
  const pauseSeconds =
    retryAfterSeconds ?? requeueSeconds(requeueDefaults.clusterUnavailable, failures - 1, 0);
  return { reason, failures, untilMs: nowMs + pauseSeconds * 1000 };
}

/**
 * Returns the share of work that may run after a recovery: 1/64 at once, doubled every 5 s, all of it after
 * 30 s. The rest is requeued.
 */
export const rampShare = (msSinceRecovery: number): number => Math.min(1, 2 ** (msSinceRecovery / 5000) / 64);

const circuitAttribute = 'circuit';
const probe = { by: 'probe', untilMs: 'probeUntil' } as const;
const recoveredAt = 'recoveredAt';

/** Attributes that a switch of mode removes. */
export const circuitAttributes = [circuitAttribute, ...Object.values(probe)] as const;

/** Conditions compare the text, so only one of several workers changes the circuit. */
const encode = ({ reason, failures, untilMs }: Circuit): string =>
  JSON.stringify({ reason, failures, until: untilMs });

/** Ignores the circuit of a cluster that the hub does not write to, because no run would close it. */
export function decodeCircuit(item: Item, switches: Switches): CircuitState {
  const text = item[circuitAttribute];
  const recoveredAtMs = numberOf(item, recoveredAt);
  if (!writesAnything(switches) || typeof text !== 'string') return { circuit: undefined, recoveredAtMs };
  const { reason, failures, until } = JSON.parse(text) as {
    readonly reason: CircuitReason;
    readonly failures: number;
    readonly until: number;
  };
  return { circuit: { reason, failures, untilMs: until, text }, recoveredAtMs };
}

interface ClusterCircuit {
  readonly id: string;
  readonly circuit: Circuit | undefined;
}

const isAsRead = (circuit: Circuit) =>
  ({ attribute: circuitAttribute, is: '=', value: circuit.text ?? encode(circuit) }) as const;

/**
 * Opens the circuit, or extends it. The update succeeds only for the first worker that met a failure, or for
 * the worker that probed: later workers find the circuit changed. It also fails if a switch of mode has ended
 * all writes, because no run would close the circuit again.
 */
export async function openCircuit(
  table: Table,
  { id, circuit }: ClusterCircuit,
  next: Circuit,
): Promise<void> {
  const change = { set: { [circuitAttribute]: encode(next) }, remove: Object.values(probe) };
  await table.update(metaKey(id), change, {
    all: [isWrittenTo, circuit ? isAsRead(circuit) : { absent: circuitAttribute }],
  });
}

/**
 * Claims the probe for this worker. Resolves to false if another worker probes, or if the circuit has changed
 * since it was read.
 */
export async function claimProbe(
  table: Table,
  { id, circuit }: ClusterCircuit,
  claim: { readonly by: string; readonly nowMs: number; readonly untilMs: number },
): Promise<boolean> {
  if (!circuit) return false;
  const isFree = {
    any: [{ absent: probe.by }, { attribute: probe.untilMs, is: '<', value: claim.nowMs } as const],
  };
  const change = { set: { [probe.by]: claim.by, [probe.untilMs]: claim.untilMs } };
  return (await table.update(metaKey(id), change, { all: [isAsRead(circuit), isFree] })) !== undefined;
}

/**
 * Closes the circuit after an answer of the cluster. Resolves to false if the circuit has changed since it
 * was read.
 */
export async function closeCircuit(
  table: Table,
  { id, circuit }: ClusterCircuit,
  nowMs: number,
): Promise<boolean> {
  if (!circuit) return false;
  const change = { set: { [recoveredAt]: nowMs }, remove: circuitAttributes };
  return (await table.update(metaKey(id), change, isAsRead(circuit))) !== undefined;
}
