/**
 * Makes a failed message visible again within seconds, later with each receive. The visibility timeout is for
 * functions that crash: it is three times a run's time, and by then sweep has usually enqueued the service.
 */
import { defaultLimits, type RunLimits } from '#shared/contract/limits.ts';
import type { SourceQueue } from './port.ts';

export interface Received {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** Number of receives, with this one. */
  readonly receives: number;
}

/** Returns the delay in whole seconds. `random` is in [0, 1). */
export function retryDelaySeconds(
  receives: number,
  random: number,
  { retryDelaySeconds: base, maxRetryDelaySeconds }: RunLimits,
): number {
  return Math.max(
    1,
    Math.round(Math.min(maxRetryDelaySeconds, base * Math.max(1, receives || 1)) * (0.5 + random)),
  );
}

/** Never rejects. If the call fails, its messages return at the end of their visibility timeout. */
export async function retrySoon(
  { queue, log, random, limits = defaultLimits.runs }: ComeBackDeps,
  messages: readonly Pick<Received, 'messageId' | 'receiptHandle' | 'receives'>[],
  failed: readonly string[],
): Promise<void> {
  if (failed.length === 0) return;
  const ids = new Set(failed);
  const back = messages.filter((m) => ids.has(m.messageId));
  try {
    await queue.comeBack(
      back.map(({ receiptHandle, receives }) => ({
        receiptHandle,
        seconds: retryDelaySeconds(receives, random(), limits),
      })),
    );
  } catch (error) {
    log.warn('failed messages are retried only after their visibility timeout', {
      messages: back.length,
      error: String(error),
    });
  }
}

export interface ComeBackDeps {
  readonly queue: SourceQueue;
  readonly log: { warn(message: string, fields: { readonly [field: string]: unknown }): void };
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly limits?: RunLimits;
}
