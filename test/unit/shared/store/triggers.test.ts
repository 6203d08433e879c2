import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TriggerTimes } from '#shared/controllers/triggertime/tracker.ts';
import { readTriggers, type StoredTriggers, saveTriggers, type Triggers } from '#shared/store/triggers.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const service = { cluster: 'c', namespace: 'ns', name: 'svc' };
const none: StoredTriggers = { triggers: { endpoints: undefined, slices: undefined }, buckets: new Map() };
const times = (pods: number, shift = 0): TriggerTimes => ({
  service: 1000,
  pods: new Map(
    Array.from({ length: pods }, (_, i) => [`deployment-6b7f9c-${i}`, 1_700_000_000_000 + i + shift]),
  ),
});

function store() {
  const table = memoryTable();
  const written: string[] = [];
  const counted = {
    ...table,
    put: (item: Parameters<typeof table.put>[0]) => {
      written.push(item.sk);
      return table.put(item);
    },
  };
  let stored = none;
  return {
    table,
    /** Saves and reads back the state. Resolves to it and to the written buckets. */
    async save(
      next: Triggers,
    ): Promise<{ readonly read: Triggers; readonly wrote: number; readonly text: string | null }> {
      written.length = 0;
      const text = await saveTriggers(counted, service, { next, stored });
      stored = await readTriggers(table, service, text ?? undefined);
      return { read: stored.triggers, wrote: written.length, text };
    },
  };
}

describe('trigger times', () => {
  it('trigger times of a few pods ride on the work item', async () => {
    const { table, save } = store();
    const { read, wrote, text } = await save({ endpoints: times(20), slices: times(20) });
    expect(read).toEqual({ endpoints: times(20), slices: times(20) });
    expect([wrote, table.dump()]).toEqual([0, []]);
    expect(text?.length).toBeLessThanOrEqual(1200);
  });

  it('trigger times of many pods are kept in buckets, and a change writes only its own bucket', async () => {
    const { save } = store();
    const first = await save({ endpoints: times(500), slices: times(500) });
    expect(first.read).toEqual({ endpoints: times(500), slices: times(500) });
    expect(first.wrote).toBe(16);
    const changed = { ...times(500), pods: new Map(times(500).pods).set('deployment-6b7f9c-7', 5) };
    const second = await save({ endpoints: changed, slices: changed });
    expect(second.read).toEqual({ endpoints: changed, slices: changed });
    expect(second.wrote).toBe(1);
    expect((await save({ endpoints: changed, slices: changed })).wrote).toBe(0);
  });

  it('leave no bucket behind when they shrink or go', async () => {
    const { table, save } = store();
    await save({ endpoints: times(500), slices: times(500) });
    expect((await save({ endpoints: times(100), slices: times(100) })).read).toEqual({
      endpoints: times(100),
      slices: times(100),
    });
    expect((await save({ endpoints: times(3), slices: times(3) })).read).toEqual({
      endpoints: times(3),
      slices: times(3),
    });
    expect(table.dump()).toEqual([]);
    expect((await save({ endpoints: undefined, slices: undefined })).text).toBeNull();
  });

  it('trigger times of the two controllers may differ, or one may have none', async () => {
    const { save } = store();
    for (const next of [
      { endpoints: times(2), slices: times(3) },
      { endpoints: times(300), slices: times(300, 7) },
      { endpoints: undefined, slices: times(300) },
      { endpoints: times(1), slices: undefined },
    ]) {
      expect((await save(next)).read).toEqual(next);
    }
  });

  it('trigger times survive storage unchanged, with any names of pods', async () => {
    const part = fc.option(
      fc.record({
        service: fc.nat(),
        pods: fc.array(
          fc.tuple(
            fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('constructor', 'a/b', '#')),
            fc.nat(),
          ),
          { maxLength: 200 },
        ),
      }),
      { nil: undefined },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ endpoints: part, slices: part }), { minLength: 1, maxLength: 3 }),
        async (states) => {
          const { save } = store();
          for (const { endpoints, slices } of states) {
            const next = {
              endpoints: endpoints && { ...endpoints, pods: new Map(endpoints.pods) },
              slices: slices && { ...slices, pods: new Map(slices.pods) },
            };
            expect((await save(next)).read).toEqual(next);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
