import { expect, it } from 'vitest';
import {
  forgetExportedPods,
  readExportedPods,
  saveExportedPods,
  type ToSave,
  textOf,
} from '#shared/clusterset/store/exported-pods-record.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const changed = { isWhole: true, isChanged: true };
const key = { cluster: 'b', namespace: 'shop', name: 'web' };

function started() {
  const table = memoryTable();
  const save = async (text: string | undefined, more: Partial<ToSave> = {}) =>
    saveExportedPods(table, key, {
      text,
      incarnation: 1,
      before: await readExportedPods(table, key),
      maxBytes: 100,
      ...more,
    });
  const saved = async () => {
    const stored = await readExportedPods(table, key);
    return stored && { text: textOf(stored), incarnation: stored.incarnation };
  };
  return { table, save, saved };
}

it('the saved text is read again, and an unchanged one costs no write', async () => {
  const { table, save, saved } = started();
  expect(await save('pods')).toEqual(changed);
  table.resetUnits();
  expect(await save('pods')).toEqual({ isWhole: true, isChanged: false });
  expect(table.units.write).toBe(0);
  expect(await saved()).toEqual({ text: 'pods', incarnation: 1 });
  expect(await save('pods', { incarnation: 2 })).toEqual(changed);
  expect(await saved()).toEqual({ text: 'pods', incarnation: 2 });
  await forgetExportedPods(table, key);
  expect(await saved()).toBeUndefined();
});

it('a run that read the pods before another run saved newer ones saves nothing', async () => {
  const { table, save, saved } = started();
  expect(await save('first')).toEqual(changed);
  const before = await readExportedPods(table, key);
  expect(await save('second')).toEqual(changed);
  expect(await save('third')).toEqual(changed);
  expect(await save('late', { before })).toBe('overtaken');
  expect(await save('late', { before: undefined })).toBe('overtaken');
  expect(await saved()).toEqual({ text: 'third', incarnation: 1 });
});

it('pods that no item takes are saved as too large, and the next text that fits counts', async () => {
  const { save, saved } = started();
  const random = Array.from({ length: 400 }, (_, i) => Math.sin(i + 1).toString(36)).join('');
  expect(await save(random)).toEqual({ isWhole: false, isChanged: true });
  expect(await saved()).toEqual({ text: undefined, incarnation: 1 });
  expect(await save(undefined)).toEqual({ isWhole: false, isChanged: false });
  expect(await save('pods')).toEqual(changed);
  expect(await saved()).toEqual({ text: 'pods', incarnation: 1 });
});
