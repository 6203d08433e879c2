import { expect, it } from 'vitest';
import { readLogEntries, readLogHead, takeLogNumber } from '#shared/pod-log/pod-log.ts';
import { PodLogWriter } from '#shared/pod-log/pod-log-writer.ts';
import { memoryTable } from '#test/support/table-memory.ts';

function writer() {
  const table = memoryTable();
  const store = { table, cluster: 'c' };
  return { table, store, podLog: new PodLogWriter(store, () => 1_000) };
}

it('a number that was taken ahead is the one that the Pods are written with, and gets its entry if none is written', async () => {
  const { store, podLog } = writer();
  await takeLogNumber(store, 'used', 500);
  await takeLogNumber(store, 'unused', 500);
  podLog.takeAhead('used');
  podLog.takeAhead('unused');
  await podLog.takeNumber('used');
  podLog.record('used', 'p');
  await podLog.writeEntries();
  expect(await readLogEntries(store, 'used', 1)).toMatchObject([{ number: 2, names: ['p'] }]);
  expect(await readLogEntries(store, 'unused', 1)).toMatchObject([{ number: 2, names: [] }]);
});

it('nothing is written ahead for a namespace without a log, as one of a removed cluster', async () => {
  const { table, store, podLog } = writer();
  podLog.takeAhead('ns');
  await podLog.writeEntries();
  expect(table.dump()).toEqual([]);
  await podLog.takeNumber('ns');
  expect(await readLogHead(store, 'ns')).toMatchObject({ number: 1 });
});
