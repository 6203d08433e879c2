import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Endpoints } from '#shared/kube/types.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { forgetOutputs, type OutputRecord, readOutput, readOutputs, readSaved, saveOutput, saveOutputs } from '#shared/store/outputs.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/table-memory.ts';

const service = { cluster: 'c', namespace: 'ns', name: 'svc' };
const endpoints = (rv: string, more: Partial<OutputRecord> = {}): OutputRecord => ({
  kind: 'Endpoints',
  name: 'svc',
  uid: 'u',
  version: versionOf(1, rv),
  generation: 0,
  object: { metadata: { name: 'svc', resourceVersion: rv } } as Endpoints,
  ...more,
});

it('what is newer replaces what is older, in whatever order they are saved', async () => {
  const table = memoryTable();
  expect(await saveOutput(table, service, endpoints('9'))).toBe(true);
  expect(await saveOutput(table, service, endpoints('10'))).toBe(true);
  expect(await saveOutput(table, service, endpoints('9'))).toBe(false);
  expect(await saveOutput(table, service, endpoints('10', { uid: 'other' }))).toBe(false);
  expect(await readOutput(table, service, { kind: 'Endpoints', name: 'svc' })).toEqual(endpoints('10'));
});

it('"gone" replaces the version that went, and no newer one', async () => {
  const table = memoryTable();
  await saveOutput(table, service, endpoints('10'));
  expect(await saveOutput(table, service, endpoints('9', { object: undefined }))).toBe(false);
  expect(await saveOutput(table, service, endpoints('10', { object: undefined }))).toBe(true);
  expect((await readOutput(table, service, { kind: 'Endpoints', name: 'svc' }))?.object).toBeUndefined();
  expect(await saveOutput(table, service, endpoints('11'))).toBe(true);
});

it('forgetting takes away the kinds it is told to, and what is kept on the other shelf stays', async () => {
  const table = memoryTable();
  const slice = endpoints('7', { kind: 'EndpointSlice', name: 'svc-x', generation: 3 });
  await saveOutput(table, service, endpoints('10'));
  await saveOutput(table, service, slice);
  await saveOutput(table, service, endpoints('10'), { source: 'observed' });
  await forgetOutputs(table, service, ['EndpointSlice']);
  expect((await readOutputs(table, service)).map((o) => o.kind)).toEqual(['Endpoints']);
  await forgetOutputs(table, service, ['Endpoints', 'EndpointSlice']);
  expect(await readOutputs(table, service)).toEqual([]);
  expect(await readOutputs(table, service, 'observed')).toHaveLength(1);
});

const textOf = (i: number): string => createHash('sha256').update(String(i)).digest('hex').slice(0, 20);
const large = (rv: string, unready: readonly number[] = [], kind: OutputRecord['kind'] = 'Endpoints'): OutputRecord => {
  const address = (i: number) => ({ ip: `10.1.0.${i}`, targetRef: { kind: 'Pod', name: `pod-${i}`, uid: textOf(i) } });
  const all = Array.from({ length: 200 }, (_, i) => i);
  const of = (isReady: boolean) => all.filter((i) => unready.includes(i) !== isReady).map(address);
  const object = { metadata: { name: 'svc', resourceVersion: rv }, subsets: [{ addresses: of(true), notReadyAddresses: of(false) }] };
  return endpoints(rv, { kind, name: kind === 'Endpoints' ? 'svc' : 'svc-x', object: object as unknown as Endpoints });
};
const unit = 1024;
const save = async (table: Table, ...changed: readonly OutputRecord[]) => saveOutputs(table, service, await readSaved(table, service), changed, unit);
const bodies = (table: ReturnType<typeof memoryTable>) => table.dump().filter((item) => item['b'] !== undefined);

it('a change of a large output is written as an amendment, for one unit, and read as the output', async () => {
  const table = memoryTable();
  await save(table, large('5'), large('6', [], 'EndpointSlice'));
  const before = bodies(table);
  table.resetUnits();
  await save(table, large('8', [3]), large('9', [3], 'EndpointSlice'));
  expect(table.units.write).toBe(1);
  await save(table, large('10', [3, 77]));
  expect(bodies(table)).toEqual(before);
  expect(await readOutputs(table, service)).toEqual([large('10', [3, 77]), large('9', [3], 'EndpointSlice')]);
  expect(await readOutput(table, service, { kind: 'EndpointSlice', name: 'svc-x' })).toEqual(large('9', [3], 'EndpointSlice'));
});

it('bodies are saved again when amendments have grown, so that a change costs a fraction of a body in the mean', async () => {
  const table = memoryTable();
  const bytes = { written: 0 };
  const { put } = table;
  table.put = (item, condition) => {
    bytes.written += itemSize(item);
    return put(item, condition);
  };
  await save(table, large('1000'));
  const whole = bytes.written;
  const first = bodies(table);
  const unready = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => Number.parseInt(textOf(i).slice(0, 6), 16) % 200);
  for (let i = 1; i <= 100; i++) await saveOutputs(table, service, await readSaved(table, service), [large(String(1100 + i), unready(i))], 100);
  expect(bodies(table)).not.toEqual(first);
  expect((bytes.written - whole) / 100).toBeLessThan(whole / 3);
  expect(await readOutputs(table, service)).toEqual([large('1200', unready(100))]);
});

it('an output that is gone, or made again, is saved whole', async () => {
  const table = memoryTable();
  await save(table, large('5'));
  await save(table, large('6', [1]));
  await save(table, { ...large('6'), object: undefined });
  expect(await readOutputs(table, service)).toEqual([{ ...large('6'), object: undefined }]);
  await save(table, { ...large('9', [2]), uid: 'other' });
  expect(await readOutputs(table, service)).toEqual([{ ...large('9', [2]), uid: 'other' }]);
  await save(table, { ...large('10', [4]), uid: 'other' });
  await forgetOutputs(table, service, ['Endpoints']);
  expect(table.dump()).toEqual([]);
});

it('what is amended over a body that a late worker has saved is known to be lost, until it is saved again', async () => {
  const table = memoryTable();
  await save(table, large('5'));
  const late = await readSaved(table, service);
  await save(table, large('9', [1]));
  await saveOutput(table, service, large('7', [2]));
  expect(await readOutputs(table, service)).toEqual([{ ...large('7', [2]), version: versionOf(1, '9'), isUnreadable: true }]);
  // Another output's amendment does not take its place.
  await save(table, large('11', [], 'EndpointSlice'));
  await save(table, large('12', [1], 'EndpointSlice'));
  expect((await readOutputs(table, service)).map((o) => o.isUnreadable)).toEqual([true, undefined]);
  expect(await saveOutputs(table, service, late, [large('8', [3])], unit)).toBeUndefined();
  expect((await readOutputs(table, service))[0]?.version).toBe(versionOf(1, '9'));
  await save(table, large('13', [4]));
  expect((await readOutputs(table, service))[0]).toEqual(large('13', [4]));
});

it('the second of two workers that have read the same saves its outputs whole', async () => {
  const table = memoryTable();
  await save(table, large('5'), large('6', [], 'EndpointSlice'));
  const read = await readSaved(table, service);
  expect(await saveOutputs(table, service, read, [large('8', [1])], unit)).toBeDefined();
  expect(await saveOutputs(table, service, read, [large('9', [1], 'EndpointSlice')], unit)).toBeUndefined();
  expect(await readOutputs(table, service)).toEqual([large('8', [1]), large('9', [1], 'EndpointSlice')]);
});
