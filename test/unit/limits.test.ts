import { expect, it } from 'vitest';
import { defaultLimits } from '#shared/contract/limits.ts';
import { silentAfterMs } from '#shared/contract/silence.ts';

const { ingest, sync, runs, relay, election, queue } = defaultLimits;

it('the relations between limits hold', () => {
  expect(sync.leaseMs).toBeGreaterThan(runs.workerMs);
  expect(sync.reserveMs).toBeLessThan(runs.workerMs);
  // Lambda refuses a visibility timeout below the function's, and a killed worker's work is back after 90 s.
  expect(runs.visibilityRuns).toBeGreaterThanOrEqual(2);
  expect(runs.visibilityRuns * runs.workerMs).toBeLessThanOrEqual(90_000);
  expect(sync.inPlaceMs).toBeGreaterThan(sync.reserveMs);
  expect(ingest.tombstoneMs).toBeGreaterThan(runs.workerMs);
  expect(3 * relay.heartbeatMs).toBeLessThanOrEqual(silentAfterMs);
  expect(election.renewDeadlineMs).toBeLessThan(election.leaseDurationMs);
  expect(election.retryPeriodMs + election.callTimeoutMs).toBeLessThan(election.renewDeadlineMs);
  expect(election.leaseDurationMs % 1000).toBe(0);
  expect(queue.inflateBytes).toBeGreaterThan(relay.messageBytes);
  expect(queue.inflateBytes).toBeGreaterThan(relay.partTextBytes + relay.entryBytes);
  expect(relay.partTextBytes).toBeGreaterThan(relay.entryBytes);
});
