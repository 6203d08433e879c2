import { expect, it } from 'vitest';
import {
  forgetImportStates,
  readImportState,
  readImportStates,
  saveImportState,
} from '#shared/clusterset/store/imports-of-set.ts';
import { clusterOfKey } from '#shared/store/keys.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const key = { set: 'prod', namespace: 'shop', name: 'web' };
const state = (text: string, isPending = false) => ({ text, isPending });

it('the state of an import has its pending wake-up until it is saved without', async () => {
  const table = memoryTable();
  await saveImportState(table, key, 'b', state('{"has":{}}', true));
  expect(await readImportState(table, key, 'b')).toEqual(state('{"has":{}}', true));
  await saveImportState(table, key, 'b', state('{"has":{}}'));
  expect(await readImportState(table, key, 'b')).toEqual(state('{"has":{}}'));
  expect(await readImportState(table, key, 'c')).toBeUndefined();
  expect(table.dump().map(clusterOfKey)).toEqual([undefined]);
  await saveImportState(table, key, 'b', undefined);
  expect(table.dump()).toEqual([]);
});

it.each(['web-2', 'web#c', 'web/x', '%23'])(
  'the states of a name are not those of another name: %s',
  async (other) => {
    const table = memoryTable();
    await saveImportState(table, key, 'b', state('{"has":{"b":"1"}}'));
    await saveImportState(table, { ...key, name: other }, 'c', state('{"has":{"b":"2"}}'));
    expect(await readImportStates(table, key)).toEqual(new Map([['b', '{"has":{"b":"1"}}']]));
    expect(await forgetImportStates(table, 'prod', 'shop', 'c')).toEqual([other]);
    expect(await readImportStates(table, { ...key, name: other })).toEqual(new Map());
    expect((await readImportStates(table, key)).size).toBe(1);
  },
);
