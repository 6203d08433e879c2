import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '#shared/contract/limits.ts';
import { labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import {
  decodeDeltas,
  encodeDeltas,
  noDeltas,
  type OutputDeltas,
  roomForDeltas,
} from '#shared/store/outputs/deltas.ts';
import { maxSavedBytes } from '#shared/store/outputs/output-items.ts';
import {
  forgetOutputs,
  type OutputRecord,
  readBodies,
  readObservedOutputs,
  readOutput,
  readOutputHeads,
  readOutputs,
  savedOutputs,
  saveOutput,
  saveOutputs,
} from '#shared/store/outputs/outputs.ts';
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
  expect(await readOutput(table, service, { kind: 'Endpoints', name: 'svc' }, noDeltas)).toEqual(
    endpoints('10'),
  );
});

it('"gone" replaces the version that went, and no newer one', async () => {
  const table = memoryTable();
  await saveOutput(table, service, endpoints('10'));
  expect(await saveOutput(table, service, endpoints('9', { object: undefined }))).toBe(false);
  expect(await saveOutput(table, service, endpoints('10', { object: undefined }))).toBe(true);
  expect(
    (await readOutput(table, service, { kind: 'Endpoints', name: 'svc' }, noDeltas))?.object,
  ).toBeUndefined();
  expect(await saveOutput(table, service, endpoints('11'))).toBe(true);
});

it('forgetting deletes the given kinds, and keeps the other source’s outputs', async () => {
  const table = memoryTable();
  const slice = endpoints('7', { kind: 'EndpointSlice', name: 'svc-x', generation: 3 });
  await saveOutput(table, service, endpoints('10'));
  await saveOutput(table, service, slice);
  await saveOutput(table, service, endpoints('10'), { source: 'observed' });
  await forgetOutputs(table, service, ['EndpointSlice']);
  expect((await readOutputs(table, service, noDeltas)).map((o) => o.kind)).toEqual(['Endpoints']);
  await forgetOutputs(table, service, ['Endpoints', 'EndpointSlice']);
  expect(await readOutputs(table, service, noDeltas)).toEqual([]);
  expect(await readObservedOutputs(table, service)).toHaveLength(1);
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
const limits = { deltaBytes: 700, savedBytes: maxSavedBytes };

/** A table, and the deltas that the work item of the Service has. */
class Snapshot {
  readonly table = memoryTable();
  deltas: OutputDeltas = noDeltas;
  readonly #limits: typeof limits;

  constructor(most: Partial<typeof limits> = {}) {
    this.#limits = { ...limits, ...most };
  }

  /** What a worker reads when it takes the lease. */
  async taken() {
    return { deltas: this.deltas, ...savedOutputs(await readBodies(this.table, service), this.deltas) };
  }

  /** A run's save. A late worker, which has lost its lease, saves bodies only. */
  async save(
    changed: readonly OutputRecord[],
    late?: Awaited<ReturnType<Snapshot['taken']>>,
  ): Promise<boolean> {
    const { outputs: before, bodies, deltas } = late ?? (await this.taken());
    const saved = await saveOutputs(this.table, service, { before, bodies, deltas, changed }, this.#limits);
    if (!late) this.deltas = decodeDeltas(encodeDeltas(saved.deltas) ?? undefined);
    return saved.isNewest;
  }

  read = (): Promise<readonly OutputRecord[]> => readOutputs(this.table, service, this.deltas);
}

describe('a change of an output that has a body', () => {
  it('the change is saved as a delta beside the body, and read as the output', async () => {
    const snapshot = new Snapshot();
    await snapshot.save([large('7'), large('8', [], 'EndpointSlice')]);
    expect(snapshot.deltas.size).toBe(0);
    const before = snapshot.table.dump();
    await snapshot.save([large('9', [3], 'EndpointSlice')]);
    await snapshot.save([large('10', [3])]);
    await snapshot.save([large('11', [3, 77])]);
    expect([...snapshot.deltas.keys()].sort()).toEqual(['endpoints', 'slice#svc-x']);
    expect(snapshot.table.dump()).toEqual(before);
    expect(await snapshot.read()).toEqual([large('11', [3, 77]), large('9', [3], 'EndpointSlice')]);
    const slice = { kind: 'EndpointSlice', name: 'svc-x' } as const;
    expect(await readOutput(snapshot.table, service, slice, snapshot.deltas)).toEqual(
      large('9', [3], 'EndpointSlice'),
    );
    expect((await readOutput(snapshot.table, service, slice, noDeltas))?.version).toBe(versionOf(1, '8'));
  });

  it('the largest deltas become bodies when all of them take more than their room', async () => {
    const snapshot = new Snapshot();
    await snapshot.save([large('1000'), large('1000', [], 'EndpointSlice')]);
    const slice = large('1001', [5], 'EndpointSlice');
    await snapshot.save([slice]);
    let bodies = 0;
    for (let i = 1; i <= 100; i++) {
      const before = (await snapshot.taken()).bodies.get('endpoints')?.version;
      const now = large(String(1000 + i), [], 'Endpoints', i);
      await snapshot.save([now]);
      if ((await snapshot.taken()).bodies.get('endpoints')?.version !== before) bodies++;
      expect(await snapshot.read()).toEqual([now, slice]);
      expect(encodeDeltas(snapshot.deltas)?.byteLength ?? 0).toBeLessThanOrEqual(limits.deltaBytes);
    }
    expect(bodies).toBeGreaterThan(0);
    expect(bodies).toBeLessThan(25);
  });

  it('a delta of an output that the run has not changed becomes a body too', async () => {
    const snapshot = new Snapshot({ deltaBytes: 400 });
    await snapshot.save([large('7'), large('8', [], 'EndpointSlice')]);
    const many = large('9', [3, 50, 77, 120, 160]);
    await snapshot.save([many]);
    expect([...snapshot.deltas.keys()]).toEqual(['endpoints']);
    const slice = large('10', [1, 60, 90, 130, 170, 190], 'EndpointSlice');
    await snapshot.save([slice]);
    await snapshot.save([large('11', [1, 60, 90], 'EndpointSlice')]);
    expect(await snapshot.read()).toEqual([many, large('11', [1, 60, 90], 'EndpointSlice')]);
  });

  it('a new body is saved if the output is another one, or is gone', async () => {
    const snapshot = new Snapshot();
    await snapshot.save([large('7')]);
    await snapshot.save([{ ...large('8', [1]), uid: 'other' }]);
    await snapshot.save([{ ...large('8', [1]), uid: 'other', object: undefined }]);
    await snapshot.save([{ ...large('9', [2]), uid: 'other' }]);
    expect(snapshot.deltas.size).toBe(0);
    expect(await snapshot.read()).toEqual([{ ...large('9', [2]), uid: 'other' }]);
  });

  it('a delta of a body that is forgotten counts no more', async () => {
    const snapshot = new Snapshot();
    await snapshot.save([large('7'), large('8', [], 'EndpointSlice')]);
    await snapshot.save([large('9', [1]), large('10', [1], 'EndpointSlice')]);
    await forgetOutputs(snapshot.table, service, ['EndpointSlice']);
    expect(await snapshot.read()).toEqual([large('9', [1])]);
    await snapshot.save([large('3', [1], 'EndpointSlice')]);
    expect([...snapshot.deltas.keys()]).toEqual(['endpoints']);
    expect(await snapshot.read()).toEqual([large('9', [1]), large('3', [1], 'EndpointSlice')]);
  });

  it.each([
    ['the rest of a unit', 300, 700, 724],
    ['a unit more where little is left', 900, 700, 1148],
    ['the rest of the second unit', 1100, 700, 948],
    ['a unit more beside large bodies', 300, 40_000, 1748],
  ])('the room for deltas is %s', (_, itemBytes, bytes, room) => {
    const bodies = new Map([['endpoints', { version: versionOf(1, '7'), uid: 'u', text: '', bytes }]]);
    expect(roomForDeltas(itemBytes, bodies, 1024)).toBe(room);
  });
});

describe('an output that a run finds older than it was saved', () => {
  it('the older record replaces the saved one, as a body and as a delta', async () => {
    const snapshot = new Snapshot();
    await snapshot.save([endpoints('10')]);
    expect(await snapshot.save([endpoints('9')])).toBe(true);
    expect(await snapshot.read()).toEqual([endpoints('9')]);
    await snapshot.save([endpoints('9', { object: undefined })]);
    expect(await snapshot.save([endpoints('9')])).toBe(true);
    expect(await snapshot.read()).toEqual([endpoints('9')]);

    for (const [rv, deltas] of [
      ['28', 1],
      ['25', 0],
    ] as const) {
      await snapshot.table.delete({ pk: 'c#OUT#ns/svc', sk: 'endpoints' });
      await snapshot.save([large('27')]);
      await snapshot.save([large('29', [1])]);
      expect(snapshot.deltas.size).toBe(1);
      expect(await snapshot.save([large(rv, [2])])).toBe(true);
      expect([await snapshot.read(), snapshot.deltas.size]).toEqual([[large(rv, [2])], deltas]);
    }
  });

  it('a record that another worker has saved meanwhile stays', async () => {
    const snapshot = new Snapshot();
    await snapshot.save([large('7')]);
    const late = await snapshot.taken();
    await snapshot.save([{ ...large('11', [2]), uid: 'other' }]);
    expect(await snapshot.save([{ ...large('8'), object: undefined }], late)).toBe(false);
    expect(await snapshot.read()).toEqual([{ ...large('11', [2]), uid: 'other' }]);
  });
});

describe('a body that a late worker has saved', () => {
  it('the content of the output is unknown if a newer delta is of the body before it, until the output is saved again', async () => {
    const snapshot = new Snapshot();
    await snapshot.save([large('5')]);
    await snapshot.save([large('9', [2])]);
    await saveOutput(snapshot.table, service, large('7', [1]));
    const { uid, name, kind, generation } = large('7');
    const object = { metadata: { name: 'svc', resourceVersion: '7', labels: {} } };
    expect(await snapshot.read()).toEqual([
      { kind, name, uid, version: versionOf(1, '7'), generation, object, isMetadataOnly: true },
    ]);
    // A run has read it from the API server, as it is since version 9.
    expect(await snapshot.save([large('9', [2])])).toBe(true);
    expect(await snapshot.read()).toEqual([large('9', [2])]);
    await snapshot.save([large('13', [4])]);
    expect(await snapshot.read()).toEqual([large('13', [4])]);
  });

  it('the content of the output is unknown if that body has the version of the one before it, as after a restore of the cluster', async () => {
    const snapshot = new Snapshot();
    await snapshot.save([large('7')]);
    await snapshot.save([large('9', [2])]);
    expect(await snapshot.save([large('7', [1])], await snapshot.taken())).toBe(true);
    expect((await snapshot.read()).map((o) => [o.version, o.isMetadataOnly])).toEqual([
      [versionOf(1, '7'), true],
    ]);
    await snapshot.save([large('8', [3])]);
    expect(await snapshot.read()).toEqual([large('8', [3])]);
  });

  it('a newer body counts, and the older delta no more', async () => {
    const snapshot = new Snapshot();
    await snapshot.save([large('5')]);
    await snapshot.save([large('7', [1])]);
    await saveOutput(snapshot.table, service, large('9', [2]));
    expect(await snapshot.read()).toEqual([large('9', [2])]);
    await snapshot.save([large('10', [3], 'EndpointSlice')]);
    expect(snapshot.deltas.size).toBe(0);
  });
});

describe('an output above the maximum saved size', () => {
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
  const small = () => new Snapshot({ savedBytes: 500 });

  it('the metadata is saved that shows its owner, with a mark', async () => {
    const snapshot = small();
    expect(await snapshot.save([slice('7', 100)])).toBe(true);
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
    expect(await snapshot.read()).toEqual([{ ...slice('7', 100), object, isMetadataOnly: true }]);
    const { table } = snapshot;
    const [head] = await readOutputHeads(table, service, { kind: 'EndpointSlice', range: {} }, 'written');
    expect(head).toEqual({ name: 'svc-x', uid: 'u', version: versionOf(1, '7'), isThere: true });
  });

  it('its content is saved as soon as it is small enough, and no longer when it is too large again', async () => {
    const snapshot = small();
    for (const [rv, pods] of [
      ['7', 100],
      ['8', 2],
      ['9', 100],
    ] as const) {
      await snapshot.save([slice(rv, pods)]);
      const saved = await snapshot.read();
      expect(saved.map((o) => [o.version, o.isMetadataOnly ?? false])).toEqual([
        [versionOf(1, rv), pods === 100],
      ]);
    }
  });

  it('its item fits DynamoDB, however badly the object compresses', async () => {
    const snapshot = new Snapshot();
    const { table } = snapshot;
    const of = (rv: string, bytes: number): OutputRecord => {
      const annotations = { a: randomBytes(bytes).toString('base64') };
      return endpoints(rv, { object: { metadata: { name: 'svc', annotations } } });
    };
    for (const [rv, bytes] of [380, 384, 390, 400, 500].map(
      (kib, i) => [String(10 + i), kib * 1024] as const,
    )) {
      expect(await snapshot.save([of(rv, bytes)])).toBe(true);
      expect(await saveOutput(table, service, of(rv, bytes), { source: 'observed' })).toBe(true);
    }
    expect(defaultLimits.sync.savedBytes).toBeLessThanOrEqual(maxSavedBytes);
    expect((await readObservedOutputs(table, service)).map((o) => o.isMetadataOnly)).toEqual([true]);
  });
});

it('the newer version stays of two workers that save the same output, and the other worker learns of it', async () => {
  const snapshot = new Snapshot();
  const slice = endpoints('7', { kind: 'EndpointSlice', name: 'svc-x', generation: 3 });
  const late = await snapshot.taken();
  expect(await snapshot.save([endpoints('10'), slice])).toBe(true);
  expect(await snapshot.save([endpoints('9'), { ...slice, version: versionOf(1, '8') }], late)).toBe(false);
  expect((await snapshot.read()).map((o) => o.version)).toEqual([versionOf(1, '10'), versionOf(1, '8')]);
});
