import { expect, it } from 'vitest';
import {
  type Circuit,
  type CircuitReason,
  claimProbe,
  closeCircuit,
  decodeCircuit,
  nextCircuit,
  openCircuit,
  rampShare,
} from '#shared/clusters/circuit.ts';
import { metaKey } from '#shared/store/keys.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const failure = (reason: CircuitReason, retryAfterSeconds?: number) => ({ reason, retryAfterSeconds });

it.each<readonly [string, Circuit | undefined, ReturnType<typeof failure>, Circuit]>([
  [
    'opens for 15 s with the first failure',
    undefined,
    failure('unreachable'),
    { reason: 'unreachable', failures: 1, untilMs: 15_000 },
  ],
  [
    'stays open twice as long with the next one, whose reason counts',
    { reason: 'unreachable', failures: 1, untilMs: 0 },
    failure('forbidden'),
    { reason: 'forbidden', failures: 2, untilMs: 30_000 },
  ],
  [
    'stays open for 150 s at most',
    { reason: 'unreachable', failures: 99, untilMs: 0 },
    failure('unreachable'),
    { reason: 'unreachable', failures: 100, untilMs: 150_000 },
  ],
  [
    'stays open as long as a throttling cluster asks',
    undefined,
    failure('throttled', 7),
    { reason: 'throttled', failures: 1, untilMs: 7_000 },
  ],
])('the circuit %s', (_what, circuit, met, next) => {
  expect(nextCircuit(circuit, met, 0)).toEqual(next);
});

it('the load after a recovery doubles every 5 s, and is whole after 30 s', () => {
  expect([0, 5, 10, 15, 20, 25, 30, 3600].map((s) => rampShare(s * 1000))).toEqual([
    1 / 64,
    1 / 32,
    1 / 16,
    1 / 8,
    1 / 4,
    1 / 2,
    1,
    1,
  ]);
});

async function activeCluster() {
  const table = memoryTable();
  await table.put({ ...metaKey('c'), mode: 'active' });
  const state = async () =>
    decodeCircuit((await table.get(metaKey('c'))) ?? { ...metaKey('c') }, {
      mode: 'active',
      optIn: 'off',
      isSetMember: false,
    });
  return { table, state, read: async () => ({ id: 'c', ...(await state()) }) };
}

it('two workers that meet a failure at once open one circuit', async () => {
  const { table, state } = await activeCluster();
  await openCircuit(
    table,
    { id: 'c', circuit: undefined },
    { reason: 'unreachable', failures: 1, untilMs: 5 },
  );
  await openCircuit(table, { id: 'c', circuit: undefined }, { reason: 'forbidden', failures: 1, untilMs: 9 });
  expect(await state()).toMatchObject({
    circuit: { reason: 'unreachable', failures: 1, untilMs: 5 },
    recoveredAtMs: 0,
  });
});

it('one worker at a time probes an open circuit, and its success closes the circuit', async () => {
  const { table, read, state } = await activeCluster();
  await openCircuit(table, await read(), { reason: 'unreachable', failures: 1, untilMs: 5 });
  expect(await claimProbe(table, await read(), { by: 'a', nowMs: 10, untilMs: 20 })).toBe(true);
  expect(await claimProbe(table, await read(), { by: 'b', nowMs: 15, untilMs: 25 })).toBe(false);
  expect(await claimProbe(table, await read(), { by: 'b', nowMs: 21, untilMs: 31 })).toBe(true);
  expect(await closeCircuit(table, await read(), 22)).toBe(true);
  expect(await state()).toEqual({ circuit: undefined, recoveredAtMs: 22 });
  expect(await closeCircuit(table, await read(), 23)).toBe(false);
});

it('a circuit of a version that writes one more field is probed, extended and closed as any other', async () => {
  const { table, read, state } = await activeCluster();
  const ofNextVersion = { reason: 'unreachable', openedBy: 'sync-7', failures: 1, until: 5 };
  const store = (): Promise<unknown> =>
    table.update(metaKey('c'), { set: { circuit: JSON.stringify(ofNextVersion) } });
  await store();
  expect(await claimProbe(table, await read(), { by: 'a', nowMs: 10, untilMs: 20 })).toBe(true);
  await openCircuit(table, await read(), { reason: 'forbidden', failures: 2, untilMs: 40 });
  expect(await state()).toMatchObject({ circuit: { reason: 'forbidden', failures: 2, untilMs: 40 } });
  await store();
  expect(await closeCircuit(table, await read(), 22)).toBe(true);
});
