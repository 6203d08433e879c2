import { expect, it } from 'vitest';
import { defaultLimits } from '#shared/contract/limits.ts';
import { silentAfterMs } from '#shared/contract/silence.ts';

const { ingest, sync, runs, relay, election, queue } = defaultLimits;

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
