/**
 * The hub's clock, for times that functions compare with their own and with the clusters': this machine's may
 * be minutes off. As the table's last answer has it, up to a second ahead; before the first one, as this
 * machine has it. From the first one on it never goes back. The order of switches is not by this clock: audit
 * records have numbers (shared/clusters/audit.ts).
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

export function tableClock(client: Pick<DynamoDBClient, 'middlewareStack'>, now: () => number): () => number {
  let aheadMs: number | undefined;
  let latestMs = 0;
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers } = (result.response ?? {}) as {
        readonly headers?: { readonly [name: string]: string };
      };
      const at = Date.parse(headers?.['date'] ?? '');
      // The header has whole seconds, rounded down: rather late than before what the cluster's own
      // controllers have just written.
      if (Number.isFinite(at)) aheadMs = at + 1_000 - now();
      return result;
    },
    { step: 'deserialize', name: 'tableClock' },
  );
  return () => {
    if (aheadMs === undefined) return now();
    latestMs = Math.max(latestMs, now() + aheadMs);
    return latestMs;
  };
}

/** The time by this clock without the milliseconds, which it does not know. */
export const wholeSeconds = (iso: string): string => iso.replace(/\.\d+Z$/, 'Z');
