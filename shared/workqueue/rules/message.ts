/** Creates every kind of wake-up with its due time. Other files do not create wake-ups. */
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import { partsOf, type WorkKind } from '#shared/kube/work-kinds.ts';
import type { RetryNumbers, WakeUpMessage } from '#shared/queue/wake-up-message.ts';

/** The item that a wake-up is for. */
type Work = Pick<WakeUpMessage, 'cluster' | 'namespace' | 'kind' | 'name'>;

export interface Delayed {
  readonly message: WakeUpMessage;
  readonly delaySeconds: number;
}

/** Work to be enqueued. */
export interface WakeUp {
  readonly namespace: string;
  readonly kind: WorkKind;
  readonly name: string;
  readonly delaySeconds: number;
  /** The run must read the outputs from the API server, because the table's state may be wrong. */
  readonly readFromApiServer: boolean;
  /** The work has not changed. The run of an export then wakes no importer. */
  readonly lookOnly?: boolean;
  /** Time when the relay saw the change, by its node's clock, ms since the epoch. */
  readonly observedAtMs: number | undefined;
  /**
   * The pace of a wake-up that also covers later changes (wake-pace.ts). `leads`: its message is for the
   * latest generation when it is received. `follows`: it adds a generation without a message, because a
   * leading wake-up is pending.
   */
  readonly pace?: 'leads' | 'follows';
}

/** Returns a wake-up. By default it is an immediate one of a Service, whose run uses the saved outputs. */
export const wakeUp = (namespace: string, name: string, more: Partial<WakeUp> = {}): WakeUp => ({
  kind: 'service',
  delaySeconds: 0,
  readFromApiServer: false,
  observedAtMs: undefined,
  ...more,
  namespace,
  name,
});

/**
 * Returns an immediate wake-up. The run of a Service reads the outputs from the API server, because the
 * table's state may be wrong. The run of an import always reads there, and the run of an export wakes its
 * importers.
 */
export const wakeNow = (namespace: string, name: string, kind: WorkKind = 'service'): WakeUp =>
  wakeUp(namespace, name, { kind, readFromApiServer: kind === 'service' });

const newRetryNumbers = (kind: WorkKind): RetryNumbers =>
  Object.fromEntries(partsOf[kind].map((part) => [part, 0]));

export const isNewWork = ({ kind, retryNumbers }: WakeUpMessage): boolean =>
  partsOf[kind].every((part) => retryNumbers[part] === 0);

/**
 * Returns a wake-up for all parts, because a generation is for all of them. Its latency has the wait of a
 * paced wake-up, and not the batch period.
 */
export function newWork(
  cluster: string,
  w: WakeUp,
  generation: WakeUpMessage['generation'],
  nowMs: number,
): Delayed {
  const delayMs = w.delaySeconds * 1000;
  const message: WakeUpMessage = {
    cluster,
    namespace: w.namespace,
    kind: w.kind,
    name: w.name,
    generation,
    retryNumbers: newRetryNumbers(w.kind),
    dueMs: nowMs + delayMs,
    delayedByBatch: delayMs > 0,
    ...(w.observedAtMs !== undefined && { latencyFromMs: w.observedAtMs + (w.pace ? 0 : delayMs) }),
  };
  return { message, delaySeconds: w.delaySeconds };
}

/**
 * Returns a wake-up at the end of a lease, for the latest generation, in case the holder of the lease dies
 * before it covers new work.
 */
export function allAtLeaseEnd(
  { cluster, namespace, kind, name }: Work,
  seconds: number,
  nowMs: number,
): Delayed {
  const message: WakeUpMessage = {
    cluster,
    namespace,
    kind,
    name,
    generation: 'latest',
    retryNumbers: newRetryNumbers(kind),
  };
  return delayUntil(message, nowMs + seconds * 1000, nowMs);
}

/**
 * Returns the wake-up after a failure or a requeued run. `requeues` is the number of requeued runs in a row,
 * or 0 after a failure.
 */
export function retry(
  { cluster, namespace, kind, name }: Work,
  generation: number,
  retryNumbers: RetryNumbers,
  requeues: number,
): WakeUpMessage {
  return { cluster, namespace, kind, name, generation, retryNumbers, ...(requeues > 0 && { requeues }) };
}

/** Delays a message until `dueMs`, by as many messages in sequence as SQS's maximum delay requires. */
export function delayUntil(message: WakeUpMessage, dueMs: number, nowMs: number): Delayed {
  const seconds = (dueMs - nowMs) / 1000;
  const notBeforeMs = seconds > maxDelaySeconds ? dueMs : undefined;
  return {
    message: { ...message, dueMs, notBeforeMs },
    delaySeconds: Math.min(maxDelaySeconds, Math.ceil(seconds)),
  };
}

/**
 * Keeps only the newest of an item's wake-ups for new work, because it is for all parts and every earlier
 * generation. This is right for every outcome. A burst then costs one read of the work item. Retries stay as
 * they are.
 */
export function coalesce<T extends { readonly message: WakeUpMessage }>(
  received: readonly T[],
): readonly T[] {
  const fresh = received.filter(({ message }) => isNewWork(message));
  const [first] = fresh;
  if (!first) return received;
  const newest = fresh.reduce((a, b) => (rank(a.message) >= rank(b.message) ? a : b), first);
  const from = fresh.flatMap(({ message }) => message.latencyFromMs ?? []);
  const message: WakeUpMessage = {
    ...newest.message,
    latencyFromMs: from.length > 0 ? Math.min(...from) : undefined,
    delayedByBatch: fresh.every((f) => f.message.delayedByBatch === true),
  };
  return [{ ...newest, message }, ...received.filter((r) => !fresh.includes(r))];
}

const rank = ({ generation }: WakeUpMessage): number =>
  generation === 'latest' ? Number.POSITIVE_INFINITY : generation;
