import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { silentAfterMs } from '#shared/clusterset/source-state.ts';
import { defaultLimits } from '#shared/contract/limits.ts';

/** The waits of requeues have a table of their own (requeue-limits.test.ts). */
const { requeue: _, ...numbers } = defaultLimits;
const { ingest, sync, runs, relay, election, queue } = numbers;

it('docs/limits.md lists every limit with its default', () => {
  const rows = [...readFileSync('docs/limits.md', 'utf8').matchAll(/^\| `(\w+\.\w+)` \| (\S+) \|/gm)];
  const number = (text: string): number => (text === '1/3' ? 1 / 3 : Number(text));
  const listed = Object.fromEntries(rows.map(([, name, value]) => [name, number(value as string)]));
  const all = Object.entries(numbers).flatMap(([stage, limits]) =>
    Object.entries(limits).map(([name, value]) => [`${stage}.${name}`, value]),
  );
  expect(listed).toEqual(Object.fromEntries(all));
});

it('the relations between limits hold', () => {
  expect(sync.leaseMs).toBeGreaterThan(runs.syncMs);
  expect(sync.reserveMs).toBeLessThan(runs.syncMs);
  expect(runs.visibilityRuns).toBeGreaterThanOrEqual(6);
  expect(ingest.tombstoneMs).toBeGreaterThan(runs.ingestMs);
  expect(3 * relay.heartbeatMs).toBeLessThanOrEqual(silentAfterMs);
  expect(election.renewDeadlineMs).toBeLessThan(election.leaseDurationMs);
  expect(election.retryPeriodMs + election.callTimeoutMs).toBeLessThan(election.renewDeadlineMs);
  expect(election.leaseDurationMs % 1000).toBe(0);
  expect(queue.inflateBytes).toBeGreaterThan(relay.messageBytes);
  expect(queue.inflateBytes).toBeGreaterThan(relay.partTextBytes + relay.entryBytes);
  expect(relay.partTextBytes).toBeGreaterThan(relay.entryBytes);
});
