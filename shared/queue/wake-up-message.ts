/**
 * A wake-up as the work queue handles it, with full names of fields. In the queue its fields have the short names of SyncMessage (messages.ts). Only this
 * file uses both names.
 */
import { type Controller, controllers } from '#shared/kube/controllers.ts';
import { encodeMessage } from './codec.ts';
import { messageVersion, type SyncMessage } from './messages.ts';
import { parseSyncMessage } from './parse.ts';

export interface WakeUpMessage {
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
  /** The wake-up is for every change of the service up to this generation. */
  readonly generation: number;
  /** The controllers that the wake-up is for, with 0 for new work or the number of the retry. */
  readonly retryNumbers: RetryNumbers;
  /** Time before which the wake-up is sent again instead of handled, ms since the epoch, because SQS delays by 900 s at most. */
  readonly notBeforeMs?: number | undefined;
  /** New work that was delayed by a batch period, as by upstream's AddAfter. */
  readonly delayedByBatch?: boolean;
  /** The relay's observation plus the batch period, for SyncLatency. `WakeUp.observedAtMs` is without the period. Absent for retries. */
  readonly observedAtMs?: number | undefined;
  /** Number of requeued runs in a row, for the length of the next wait. Absent for new work and after a failure. */
  readonly requeues?: number | undefined;
  /** Due time of the message by the sender's clock, ms since the epoch, for QueueLatency. */
  readonly dueMs?: number | undefined;
}

export type RetryNumbers = { readonly [C in Controller]?: number };

const codes = { endpoints: 'ep', slices: 'sl' } as const satisfies { readonly [C in Controller]: string };

export function encodeWakeUp(w: WakeUpMessage): string {
  const seq = Object.fromEntries(controllers.flatMap((c) => (w.retryNumbers[c] === undefined ? [] : [[codes[c], w.retryNumbers[c]]])));
  const message: SyncMessage = {
    v: messageVersion,
    cluster: w.cluster,
    ns: w.namespace,
    service: w.service,
    gen: w.generation,
    seq,
    ...(w.dueMs !== undefined && { due: w.dueMs }),
    ...(w.notBeforeMs !== undefined && { notBefore: w.notBeforeMs }),
    ...(w.delayedByBatch && { batched: true }),
    ...(w.observedAtMs !== undefined && { seen: w.observedAtMs }),
    ...(w.requeues !== undefined && { hops: w.requeues }),
  };
  return encodeMessage(message);
}

/** Throws UnreadableMessage. */
export function readWakeUp(body: string): WakeUpMessage {
  const m = parseSyncMessage(body);
  return {
    cluster: m.cluster,
    namespace: m.ns,
    service: m.service,
    generation: m.gen,
    retryNumbers: Object.fromEntries(controllers.flatMap((c) => (m.seq[codes[c]] === undefined ? [] : [[c, m.seq[codes[c]]]]))),
    notBeforeMs: m.notBefore,
    delayedByBatch: m.batched === true,
    observedAtMs: m.seen,
    dueMs: m.due,
    requeues: m.hops,
  };
}

/** The copy of a wake-up with a controller whose retries are used up, for people and for redrive. */
export interface ParkedCopy {
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
  readonly controller: Controller;
  readonly generation: number;
  readonly error: string;
  readonly parkedAtMs: number;
}

export const encodeParkedCopy = ({ cluster, namespace, service, controller, generation, error, parkedAtMs }: ParkedCopy): string =>
  encodeMessage({ cluster, ns: namespace, service, part: codes[controller], gen: generation, error, parkedAt: parkedAtMs });

/** Reads a message of the queue of parked copies, as far as it is readable. */
export function readParkedCopy(m: { readonly [field: string]: string }): Pick<ParkedCopy, 'namespace' | 'service' | 'controller' | 'error'> {
  const { ns: namespace = '', service = '', part = '', error = '' } = m;
  return { namespace, service, controller: part === codes.endpoints ? 'endpoints' : 'slices', error };
}
