/**
 * client-go's back-off as whole seconds of SQS delay.
 *
 * endpoints: 5 ms·2ⁿ, so 5, 10, 20 … 640 ms, 1.28 … 81.92 s; SQS knows no fractions, so everything below a second is one second.
 * slices: 1 s·2ⁿ up to 1000 s: 1, 2, 4 … 512, 1000, 1000, 1000, 1000, 1000 s.
 */
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import type { Controller } from '#shared/kube/controllers.ts';

/** Upstream's maxRetries: the first try and 15 more, then the work is given up. */
export const maxRetries = 15;

const baseMs: { readonly [C in Controller]: number } = { endpoints: 5, slices: 1000 };
const capMs = 1_000_000;

/** Wait before the next try after `failures` failures before this one, in seconds. */
export function backoffSeconds(controller: Controller, failures: number): number {
  return Math.max(1, Math.ceil(Math.min(baseMs[controller] * 2 ** failures, capMs) / 1000));
}

/** Wait of a wake-up for the end of a lease. */
export const leaseEndSeconds = (msOfLease: number): number => Math.min(maxDelaySeconds, Math.ceil(msOfLease / 1000));
