import { expect, it } from 'vitest';
import type { Endpoints } from '#shared/kube/types.ts';
import { forgetOutputs, type OutputRecord, readOutput, readOutputs, saveOutput } from '#shared/store/outputs.ts';
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
  await saveOutput(table, service, endpoints('10'), 'observed');
  await forgetOutputs(table, service, ['EndpointSlice']);
  expect((await readOutputs(table, service)).map((o) => o.kind)).toEqual(['Endpoints']);
  await forgetOutputs(table, service, ['Endpoints', 'EndpointSlice']);
  expect(await readOutputs(table, service)).toEqual([]);
  expect(await readOutputs(table, service, 'observed')).toHaveLength(1);
});
