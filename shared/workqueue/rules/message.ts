/** Each wake-up that there is, and when it is due. No other file makes one. */
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import { type Controller, controllers } from '#shared/kube/controllers.ts';
import type { RetryNumbers, WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { latestGeneration } from './item.ts';

export interface Delayed {
  readonly message: WakeUpMessage;
  readonly delaySeconds: number;
}

/** A service that owes a run. */
export interface WakeUp {
  readonly namespace: string;
  readonly service: string;
  readonly delaySeconds: number;
  /** The outputs are to be read from the API server: they are not what the table says. */
  readonly readFromApiServer: boolean;
  /** When the relay saw the change, by our clock. */
  readonly observedAtMs: number | undefined;
  /**
   * The wake-up covers later changes too (wake-pace.ts). `leads`: its message is for the latest generation when it is received. `follows`: it adds
   * a generation without a message, as a leading wake-up is pending.
   */
  readonly pace?: 'leads' | 'follows';
}

/** What is in the table of the service may be wrong: it is run at once, and reads its outputs from the API server. */
export const wakeNow = (namespace: string, service: string): WakeUp => ({
  namespace,
  service,
  delaySeconds: 0,
  readFromApiServer: true,
  observedAtMs: undefined,
});

const newRetryNumbers: RetryNumbers = { endpoints: 0, slices: 0 };

export const isNewWork = ({ retryNumbers }: WakeUpMessage): boolean => controllers.every((c) => retryNumbers[c] === 0);

/** For both controllers, because one generation is for both. */
export function newWork(cluster: string, w: WakeUp, generation: number, nowMs: number): Delayed {
  const delayMs = w.delaySeconds * 1000;
  const message: WakeUpMessage = {
    cluster,
    namespace: w.namespace,
    service: w.service,
    generation,
    retryNumbers: newRetryNumbers,
    dueMs: nowMs + delayMs,
    delayedByBatch: delayMs > 0,
    ...(w.observedAtMs !== undefined && { observedAtMs: w.observedAtMs + delayMs }),
  };
  return { message, delaySeconds: w.delaySeconds };
}

/** For all that is owed when the lease ends, in case its holder dies: new work that has met a lease. */
export function allAtLeaseEnd(
  service: { readonly cluster: string; readonly namespace: string; readonly name: string },
  seconds: number,
  nowMs: number,
) {
  const { cluster, namespace, name } = service;
  const message = { cluster, namespace, service: name, generation: latestGeneration, retryNumbers: newRetryNumbers };
  return delayUntil(message, nowMs + seconds * 1000, nowMs);
}

/** A retry that has met a lease, for those of its controllers that still have reason to run. */
export function retryAtLeaseEnd(message: WakeUpMessage, still: readonly Controller[], seconds: number, nowMs: number): Delayed {
  const { observedAtMs: _, delayedByBatch: __, ...rest } = message;
  const retryNumbers = Object.fromEntries(still.map((c) => [c, message.retryNumbers[c]]));
  return delayUntil({ ...rest, retryNumbers }, nowMs + seconds * 1000, nowMs);
}

/** After a failure, or a requeued run. `requeues`: how often in a row the run was requeued; 0 after a failure. */
export function retry(
  { cluster, namespace, service }: Pick<WakeUpMessage, 'cluster' | 'namespace' | 'service'>,
  generation: number,
  retryNumbers: RetryNumbers,
  requeues: number,
): WakeUpMessage {
  return { cluster, namespace, service, generation, retryNumbers, ...(requeues > 0 && { requeues }) };
}

/** As many messages, one after the other, as the time takes. */
export function delayUntil(message: WakeUpMessage, dueMs: number, nowMs: number): Delayed {
  const seconds = (dueMs - nowMs) / 1000;
  const notBeforeMs = seconds > maxDelaySeconds ? dueMs : undefined;
  return { message: { ...message, dueMs, notBeforeMs }, delaySeconds: Math.min(maxDelaySeconds, Math.ceil(seconds)) };
}

/**
 * Of a service's wake-ups for new work the newest is for the others too, with every outcome: it is for both controllers and every generation before
 * its own. So a burst costs one look at the work item. The retries stay as they are.
 */
export function coalesce<T extends { readonly message: WakeUpMessage }>(received: readonly T[]): readonly T[] {
  const fresh = received.filter(({ message }) => isNewWork(message));
  const [first] = fresh;
  if (!first) return received;
  const newest = fresh.reduce((a, b) => (a.message.generation >= b.message.generation ? a : b), first);
  const observed = fresh.flatMap(({ message }) => message.observedAtMs ?? []);
  const message: WakeUpMessage = {
    ...newest.message,
    observedAtMs: observed.length > 0 ? Math.min(...observed) : undefined,
    delayedByBatch: fresh.every((f) => f.message.delayedByBatch === true),
  };
  return [{ ...newest, message }, ...received.filter((r) => !fresh.includes(r))];
}
