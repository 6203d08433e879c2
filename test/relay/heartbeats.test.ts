/** The relay sends its heartbeats in time. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FaultyApi } from '#test/support/faulty-api.ts';
import { type RelayRun, runRelay } from './run-relay.ts';

let api: FaultyApi;
let run: RelayRun;

beforeEach(async () => {
  api = await new FaultyApi().start();
});
afterEach(async () => {
  await run.stop().catch(() => {});
  await api.close();
});

const until = (holds: () => unknown) => vi.waitFor(() => expect(holds()).toBeTruthy(), { timeout: 10_000, interval: 5 });
/** Longer than a test, so arriving heartbeats have not waited for it. */
const heartbeatMs = 10_000_000;

it('the second heartbeat comes sooner than the others: with it a cluster counts again as a source of imports', async () => {
  run = runRelay(api.url, { heartbeatMs });
  await until(() => run.heartbeats().length === 2);
  expect(run.meter.value('relay_heartbeats_total')).toBe(2);
});

it('a heartbeat that the queue does not take is repeated soon, and a second one follows it soon', async () => {
  run = runRelay(api.url, { heartbeatMs });
  run.refuseSends(true);
  await until(() => run.meter.value('relay_queue_errors_total') >= 2);
  expect(run.heartbeats()).toEqual([]);
  run.refuseSends(false);
  await until(() => run.heartbeats().length === 2);
});
