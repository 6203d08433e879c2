/**
 * client-go's back-off as whole seconds of SQS delay.
 *
 * endpoints: 5 ms·2ⁿ, so 5, 10, 20 … 640 ms, 1.28 … 81.92 s. SQS takes whole seconds, so times below a second
 * become one second. slices: 1 s·2ⁿ up to 1000 s: 1, 2, 4 … 512, 1000, 1000, 1000, 1000, 1000 s. export,
 * import: client-go's default, as endpoints.
 */
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import type { Part } from '#shared/kube/work-kinds.ts';

/** Upstream's maxRetries: the first try and 15 more. */
export const maxRetries = 15;

const baseMs: { readonly [P in Part]: number } = { endpoints: 5, slices: 1000, export: 5, import: 5 };
const capMs = 1_000_000;

/** Returns the wait before the next try in seconds. `failures` is the number of failures before this one. */
export function backoffSeconds(part: Part, failures: number): number {
  return Math.max(1, Math.ceil(Math.min(baseMs[part] * 2 ** failures, capMs) / 1000));
}

/** Returns the delay in seconds of a wake-up at the end of a lease. */
export const leaseEndSeconds = (msOfLease: number): number =>
  Math.min(maxDelaySeconds, Math.ceil(msOfLease / 1000));
