import { expect, it } from 'vitest';
import { openedCircuit } from '#functions/sync/admission/circuit-breaker.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { syncDeps } from '#test/support/stage-deps.ts';

const nowMs = 1_700_000_000_123;
const throttled = (retryAfterSeconds?: number) => new ClusterApiError('', { status: 429, retryAfterSeconds });

it.each([
  ['does not answer', new ClusterApiError('', {}), [15, 23, 30]],
  ['throttles without a wait of its own', throttled(), [15, 23, 30]],
  ['requests a wait below a second', throttled(0.1), [1, 1, 1]],
  ['requests a wait of 7 s', throttled(7), [7, 11, 14]],
] as const)(
  'a run whose cluster %s returns when the circuit lets a probe pass, or later',
  async (_what, error, waits) => {
    for (const [i, random] of [0, 0.5, 0.999].entries()) {
      const table = memoryTable();
      await registerCluster(table, { id: 'c', mode: 'active' }, 0);
      const cluster = async () => (await readCluster(table, 'c')) as ClusterRecord;
      const { requeueAfterSeconds } = await openedCircuit(
        syncDeps({ table, now: () => nowMs, random: () => random }),
        await cluster(),
        error,
      );
      expect(requeueAfterSeconds).toBe(waits[i]);
      expect(nowMs + requeueAfterSeconds * 1000).toBeGreaterThanOrEqual(
        (await cluster()).circuit?.untilMs ?? Number.NaN,
      );
    }
  },
);
