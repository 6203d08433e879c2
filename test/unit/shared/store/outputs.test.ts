import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '#shared/contract/limits.ts';
import { labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { isDelta } from '#shared/store/keys.ts';
import { maxSavedBytes } from '#shared/store/outputs/output-items.ts';
import {
  forgetOutputs,
  type OutputRecord,
  readOutput,
  readOutputHeads,
  readOutputs,
  readSaved,
  saveOutput,
  saveOutputs,
} from '#shared/store/outputs/outputs.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

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

it('a newer state replaces an older one, in any order of saving', async () => {
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

it('forgetting deletes the given kinds, and keeps the other source’s outputs', async () => {
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
/** An output of 200 pods. */
const large = (
  rv: string,
  unready: readonly number[] = [],
  kind: OutputRecord['kind'] = 'Endpoints',
  first = 0,
): OutputRecord => {
  const address = (i: number) => ({
    ip: `10.1.0.${i}`,
    targetRef: { kind: 'Pod', name: `pod-${i}`, uid: textOf(i) },
  });
  const all = Array.from({ length: 200 }, (_, i) => first + i);
  const of = (isReady: boolean) => all.filter((i) => unready.includes(i) !== isReady).map(address);
  const object = {
    metadata: { name: 'svc', resourceVersion: rv },
    subsets: [{ addresses: of(true), notReadyAddresses: of(false) }],
  };
  return endpoints(rv, { kind, name: kind === 'Endpoints' ? 'svc' : 'svc-x', object: object });
};
const limits = { unitBytes: 1024, savedBytes: maxSavedBytes };
const save = async (table: Table, ...changed: readonly OutputRecord[]) =>
  saveOutputs(table, service, { bodies: (await readSaved(table, service)).bodies, changed }, limits);
const deltasIn = (table: ReturnType<typeof memoryTable>): readonly Item[] => table.dump().filter(isDelta);

describe('a change of an output whose body takes several units', () => {
  it('the change is saved as a delta of one unit, and read as the output', async () => {
    const table = memoryTable();
    await save(table, large('7'), large('8', [], 'EndpointSlice'));
    expect(deltasIn(table)).toEqual([]);
    const before = table.dump();
    await save(table, large('9', [3], 'EndpointSlice'));
    await save(table, large('10', [3]));
    await save(table, large('11', [3, 77]));
    expect(deltasIn(table).map((item) => [item.sk, itemSize(item) <= 1024])).toEqual([
      ['delta#endpoints', true],
      ['delta#slice#svc-x', true],
    ]);
    expect(table.dump().filter((item) => !isDelta(item))).toEqual(before);
    expect(await readOutputs(table, service)).toEqual([
      large('11', [3, 77]),
      large('9', [3], 'EndpointSlice'),
    ]);
    expect(await readOutput(table, service, { kind: 'EndpointSlice', name: 'svc-x' })).toEqual(
      large('9', [3], 'EndpointSlice'),
    );
  });

  it('a new body is saved when the delta would take more than a unit', async () => {
    const table = memoryTable();
    await save(table, large('1000'));
    let bodies = 0;
    for (let i = 1; i <= 100; i++) {
      const before = (await readSaved(table, service)).bodies.get('endpoints')?.version;
      const now = large(String(1000 + i), [], 'Endpoints', i);
      await save(table, now);
      if ((await readSaved(table, service)).bodies.get('endpoints')?.version !== before) bodies++;
      expect(await readOutputs(table, service)).toEqual([now]);
    }
    expect(bodies).toBeGreaterThan(0);
    expect(bodies).toBeLessThan(15);
    expect(deltasIn(table).every((item) => itemSize(item) <= 1024)).toBe(true);
  });

  it('a new body is saved if the output is another one, is gone, or has a body that takes one unit', async () => {
    const table = memoryTable();
    await save(table, large('7'));
    await save(table, { ...large('8', [1]), uid: 'other' });
    await save(table, { ...large('8', [1]), uid: 'other', object: undefined });
    await save(table, { ...large('9', [2]), uid: 'other' });
    expect(await readOutputs(table, service)).toEqual([{ ...large('9', [2]), uid: 'other' }]);
    await save(table, endpoints('10'));
    await save(table, endpoints('11'));
    expect(deltasIn(table)).toEqual([]);
  });

  it('a reader for whom the body is not enough gets the delta', async () => {
    const table = memoryTable();
    await save(table, large('7'));
    await save(table, large('9', [1]));
    const read = async (isEnough: boolean) =>
      (await readOutput(table, service, { kind: 'Endpoints', name: 'svc' }, { isEnough: () => isEnough }))
        ?.version;
    expect([await read(true), await read(false)]).toEqual(['7', '9'].map((rv) => versionOf(1, rv)));
  });

  it('the delta is forgotten with its body', async () => {
    const table = memoryTable();
    await save(table, large('7'), large('8', [], 'EndpointSlice'));
    await save(table, large('9', [1]), large('10', [1], 'EndpointSlice'));
    await forgetOutputs(table, service, ['EndpointSlice']);
    expect(table.dump().map(({ sk }) => sk)).toEqual(['delta#endpoints', 'endpoints']);
    await forgetOutputs(table, service, ['Endpoints']);
    expect(table.dump()).toEqual([]);
  });
});

describe('an output that a run finds older than it was saved', () => {
  it('the older record replaces the saved one, as a body and as a delta', async () => {
    const table = memoryTable();
    await save(table, endpoints('10'));
    expect(await save(table, endpoints('9'))).toBe(true);
    expect(await readOutputs(table, service)).toEqual([endpoints('9')]);
    await save(table, endpoints('9', { object: undefined }));
    expect(await save(table, endpoints('9'))).toBe(true);
    expect(await readOutputs(table, service)).toEqual([endpoints('9')]);

    for (const [rv, deltas] of [
      ['28', 1],
      ['25', 0],
    ] as const) {
      await table.delete({ pk: 'c#OUT#ns/svc', sk: 'endpoints' });
      await save(table, large('27'));
      await save(table, large('29', [1]));
      expect(deltasIn(table)).toHaveLength(1);
      expect(await save(table, large(rv, [2]))).toBe(true);
      expect([await readOutputs(table, service), deltasIn(table).length]).toEqual([[large(rv, [2])], deltas]);
    }
  });

  it('a record that another worker has saved meanwhile stays', async () => {
    const table = memoryTable();
    await save(table, large('7'));
    await save(table, large('9', [1]));
    const { bodies } = await readSaved(table, service);
    await save(table, large('11', [2]));
    expect(await saveOutputs(table, service, { bodies, changed: [large('8', [3])] }, limits)).toBe(false);
    expect(await readOutputs(table, service)).toEqual([large('11', [2])]);
  });
});

describe('a body that a late worker has saved', () => {
  it('the content of the output is unknown if a newer delta is of the body before it, until the output is saved again', async () => {
    const table = memoryTable();
    await save(table, large('5'));
    const late = await readSaved(table, service);
    await save(table, large('9', [2]));
    await saveOutput(table, service, large('7', [1]));
    const { uid, name, kind, generation } = large('7');
    const object = { metadata: { name: 'svc', resourceVersion: '7', labels: {} } };
    expect(await readOutputs(table, service)).toEqual([
      { kind, name, uid, version: versionOf(1, '7'), generation, object, isMetadataOnly: true },
    ]);
    expect(
      await saveOutputs(table, service, { bodies: late.bodies, changed: [large('8', [3])] }, limits),
    ).toBe(false);
    // A run has read it from the API server, as it is since version 9.
    expect(await save(table, large('9', [2]))).toBe(true);
    expect(await readOutputs(table, service)).toEqual([large('9', [2])]);
    await save(table, large('13', [4]));
    expect(await readOutputs(table, service)).toEqual([large('13', [4])]);
  });

  it('a deleted output stays deleted if a late worker saves a delta of a former body', async () => {
    const table = memoryTable();
    await save(table, large('5'));
    const late = await readSaved(table, service);
    await save(table, large('7', [1]));
    await save(table, { ...large('7'), object: undefined });
    await saveOutputs(table, service, { bodies: late.bodies, changed: [large('9', [3])] }, limits);
    expect(await readOutputs(table, service)).toEqual([{ ...large('7'), object: undefined }]);
  });

  it('the body is read where another worker saves a delta of an older version', async () => {
    const table = memoryTable();
    await save(table, large('5'));
    const late = await readSaved(table, service);
    await saveOutput(table, service, large('9', [1]));
    expect(
      await saveOutputs(table, service, { bodies: late.bodies, changed: [large('8', [3])] }, limits),
    ).toBe(true);
    expect(await readOutputs(table, service)).toEqual([large('9', [1])]);
  });
});

describe('an output above the maximum saved size', () => {
  const most = { unitBytes: 1024, savedBytes: 500 };
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: 'svc', uid: 's' }];
  const ours = { [labelServiceName]: 'svc', [labelSliceManagedBy]: slicesManagedBy };
  const slice = (rv: string, pods: number): OutputRecord => {
    const endpointsOf = Array.from({ length: pods }, (_, i) => ({
      addresses: [`10.1.0.${i}`],
      targetRef: { kind: 'Pod', name: `pod-${i}`, uid: textOf(i) },
    }));
    const metadata = {
      name: 'svc-x',
      namespace: 'ns',
      uid: 'u',
      resourceVersion: rv,
      labels: { ...ours, other: 'x' },
      ownerReferences,
    };
    const object = { metadata, addressType: 'IPv4', endpoints: endpointsOf } as EndpointSlice;
    return endpoints(rv, { kind: 'EndpointSlice', name: 'svc-x', generation: 2, object });
  };
  const saveSmall = async (table: Table, ...changed: readonly OutputRecord[]) =>
    saveOutputs(table, service, { bodies: (await readSaved(table, service)).bodies, changed }, most);

  it('the metadata is saved that shows its owner, with a mark', async () => {
    const table = memoryTable();
    expect(await saveSmall(table, slice('7', 100))).toBe(true);
    const object = {
      metadata: {
        name: 'svc-x',
        namespace: 'ns',
        uid: 'u',
        resourceVersion: '7',
        labels: ours,
        ownerReferences,
      },
    };
    expect(await readOutputs(table, service)).toEqual([{ ...slice('7', 100), object, isMetadataOnly: true }]);
    const [head] = await readOutputHeads(table, service, { kind: 'EndpointSlice', range: {} }, 'written');
    expect(head).toEqual({ name: 'svc-x', uid: 'u', version: versionOf(1, '7'), isThere: true });
  });

  it('its content is saved as soon as it is small enough, and no longer when it is too large again', async () => {
    const table = memoryTable();
    for (const [rv, pods] of [
      ['7', 100],
      ['8', 2],
      ['9', 100],
    ] as const) {
      await saveSmall(table, slice(rv, pods));
      const saved = await readOutputs(table, service);
      expect(saved.map((o) => [o.version, o.isMetadataOnly ?? false])).toEqual([
        [versionOf(1, rv), pods === 100],
      ]);
    }
  });

  it('its item fits DynamoDB, however badly the object compresses', async () => {
    const table = memoryTable();
    const of = (rv: string, bytes: number): OutputRecord => {
      const annotations = { a: randomBytes(bytes).toString('base64') };
      return endpoints(rv, { object: { metadata: { name: 'svc', annotations } } });
    };
    for (const [rv, bytes] of [380, 384, 390, 400, 500].map(
      (kib, i) => [String(10 + i), kib * 1024] as const,
    )) {
      expect(await save(table, of(rv, bytes))).toBe(true);
      expect(await saveOutput(table, service, of(rv, bytes), { source: 'observed' })).toBe(true);
    }
    expect(defaultLimits.sync.savedBytes).toBeLessThanOrEqual(maxSavedBytes);
    expect((await readOutputs(table, service, 'observed')).map((o) => o.isMetadataOnly)).toEqual([true]);
  });
});

it('the newer version stays of two workers that save the same output, and the other worker learns of it', async () => {
  const table = memoryTable();
  const slice = endpoints('7', { kind: 'EndpointSlice', name: 'svc-x', generation: 3 });
  const { bodies } = await readSaved(table, service);
  expect(await save(table, endpoints('10'), slice)).toBe(true);
  expect(
    await saveOutputs(
      table,
      service,
      { bodies, changed: [endpoints('9'), { ...slice, version: versionOf(1, '8') }] },
      limits,
    ),
  ).toBe(false);
  expect((await readOutputs(table, service)).map((o) => o.version)).toEqual([
    versionOf(1, '10'),
    versionOf(1, '8'),
  ]);
});
