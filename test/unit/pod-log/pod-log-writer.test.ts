import { expect, it } from 'vitest';
import { putLogEntry, readLogEntries, readLogHead, takeLogNumber } from '#shared/pod-log/pod-log.ts';
import { type LoggedNamespaces, PodLogWriter } from '#shared/pod-log/pod-log-writer.ts';
import { namespaceKey } from '#shared/store/keys.ts';
import { beginPodLog } from '#shared/store/namespaces.ts';
import { memoryTable } from '#test/support/table-memory.ts';

const table = memoryTable();
const store = { table, cluster: 'c' };
const hints: LoggedNamespaces = new Map();
const writer = () => new PodLogWriter(store, () => 1_000, undefined, hints);

it('a number that was taken ahead is the one that the Pods are written with, and gets its entry if none is written', async () => {
  for (const namespace of ['used', 'unused']) {
    await takeLogNumber(store, namespace, 500);
    // The first batch of a warm worker finds out that there is a log.
    const first = writer();
    first.takeAhead(namespace);
    await first.takeNumber(namespace);
    await first.writeEntries();
  }
  const podLog = writer();
  podLog.takeAhead('used');
  podLog.takeAhead('unused');
  await podLog.takeNumber('used');
  podLog.record('used', 'p');
  await podLog.writeEntries();
  expect(await readLogEntries(store, 'used', 2)).toMatchObject([{ number: 3, names: ['p'] }]);
  expect(await readLogEntries(store, 'unused', 2)).toMatchObject([{ number: 3, names: [] }]);
});

it('nothing is counted or logged where there is no log, nor written ahead, as of a removed cluster', async () => {
  const before = table.dump();
  const podLog = writer();
  podLog.takeAhead('ns');
  await podLog.takeNumber('ns');
  podLog.record('ns', 'p');
  await podLog.writeEntries();
  expect(await podLog.confirmEntries()).toEqual(new Map([['ns', { selectors: 0, isLoggedAgain: false }]]));
  expect(table.dump()).toEqual(before);
});

it('a log that is begun while a Pod is written gets an entry of it, and that is told', async () => {
  const podLog = writer();
  await podLog.takeNumber('begun');
  podLog.record('begun', 'p');
  await table.put({ ...namespaceKey('c', 'begun'), n: 7 });
  await beginPodLog(store, 'begun', 900);
  await podLog.writeEntries();
  expect(await podLog.confirmEntries()).toEqual(new Map([['begun', { selectors: 7, isLoggedAgain: true }]]));
  expect(await readLogEntries(store, 'begun', 0)).toMatchObject([{ number: 2, names: ['p'] }]);
  expect(await readLogHead(store, 'begun')).toMatchObject({ number: 2, settled: 1 });
});

it('an entry that others have overtaken since its log was begun is written once more', async () => {
  const podLog = writer();
  await podLog.takeNumber('overtaken');
  podLog.record('overtaken', 'p');
  await beginPodLog(store, 'overtaken', 900);
  const { put } = table;
  table.put = async (item, condition) => {
    table.put = put;
    for (let number = 3; number <= 60; number++) {
      const taken = await takeLogNumber(store, 'overtaken', 950);
      await putLogEntry(store, 'overtaken', { taken, names: new Set() });
    }
    return put.call(table, item, condition);
  };
  await podLog.writeEntries();
  await podLog.confirmEntries();
  const entries = await readLogEntries(store, 'overtaken', 0);
  expect(entries.filter((e) => e.names?.includes('p')).map((e) => e.number)).toEqual([2, 61]);
});
