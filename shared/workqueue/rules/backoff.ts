/**
 * client-go's back-off as whole seconds of SQS delay.
 *
 * endpoints: 5 ms·2ⁿ, so 5, 10, 20 … 640 ms, 1.28 … 81.92 s. SQS takes whole seconds, so times below a second become one second.
 * slices: 1 s·2ⁿ up to 1000 s: 1, 2, 4 … 512, 1000, 1000, 1000, 1000, 1000 s.
 */
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import type { Controller } from '#shared/kube/controllers.ts';

/** Upstream's maxRetries: the first try and 15 more. */
export const maxRetries = 15;

const baseMs: { readonly [C in Controller]: number } = { endpoints: 5, slices: 1000 };
const capMs = 1_000_000;

/** Returns the wait before the next try in seconds. `failures` is the number of failures before this one. */
export function backoffSeconds(controller: Controller, failures: number): number {
  return Math.max(1, Math.ceil(Math.min(baseMs[controller] * 2 ** failures, capMs) / 1000));
}

/** Returns the delay in seconds of a wake-up at the end of a lease. */
export const leaseEndSeconds = (msOfLease: number): number => Math.min(maxDelaySeconds, Math.ceil(msOfLease / 1000));
