/**
 * A wake-up as the work queue handles it, each field by its name. In the queue its fields have the short names of SyncMessage (messages.ts): this file
 * alone knows both.
 */
import { type Controller, controllers } from '#shared/kube/controllers.ts';
import { encodeMessage } from './codec.ts';
import { messageVersion, type SyncMessage } from './messages.ts';
import { parseSyncMessage } from './parse.ts';

export interface WakeUpMessage {
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
  /** What it is for: every change of the service up to this generation. */
  readonly generation: number;
  /** The controllers that it is for: 0 for new work, else the number of the retry that it is. */
  readonly retryNumbers: RetryNumbers;
  /** SQS delays by 900 s at most: a longer wait is several messages, none but the last of which is handled. */
  readonly notBeforeMs?: number | undefined;
  /** New work that has waited for a batch period, as upstream's AddAfter does. */
  readonly delayedByBatch?: boolean;
  /** For SyncLatency: when the relay saw the change, by our clock, plus the batch period, which `WakeUp.observedAtMs` is without. Retries have none. */
  readonly observedAtMs?: number | undefined;
  /** How often in a row the run was requeued, for the length of the next wait; absent for new work and after a failure. */
  readonly requeues?: number | undefined;
  /** For QueueLatency: when the message itself was due, by the sender's clock. */
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

/** The copy of a wake-up of which one controller's retries are used up: for people, and for redrive. */
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

/** Of what stands in the queue of parked copies, read as far as it goes. */
export function readParkedCopy(m: { readonly [field: string]: string }): Pick<ParkedCopy, 'namespace' | 'service' | 'controller' | 'error'> {
  const { ns: namespace = '', service = '', part = '', error = '' } = m;
  return { namespace, service, controller: part === codes.endpoints ? 'endpoints' : 'slices', error };
}
