import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTriggers, type StoredTriggers, saveTriggers, type Triggers } from '#shared/store/triggers.ts';
import type { TriggerTimes } from '#shared/triggertime/tracker.ts';
import { memoryTable } from '#test/support/table-memory.ts';

const service = { cluster: 'c', namespace: 'ns', name: 'svc' };
const none: StoredTriggers = { triggers: { ep: undefined, sl: undefined }, buckets: new Map() };
const times = (pods: number, shift = 0): TriggerTimes => ({
  service: 1000,
  pods: new Map(Array.from({ length: pods }, (_, i) => [`deployment-6b7f9c-${i}`, 1_700_000_000_000 + i + shift])),
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
    /** Saves, reads back, and tells which buckets were written. */
    async save(next: Triggers): Promise<{ readonly read: Triggers; readonly wrote: number; readonly text: string | null }> {
      written.length = 0;
      const text = await saveTriggers(counted, service, next, stored);
      stored = await readTriggers(table, service, text ?? undefined);
      return { read: stored.triggers, wrote: written.length, text };
    },
  };
}

describe('trigger times', () => {
  it('trigger times of a few pods ride on the work item', async () => {
    const { table, save } = store();
    const { read, wrote, text } = await save({ ep: times(20), sl: times(20) });
    expect(read).toEqual({ ep: times(20), sl: times(20) });
    expect([wrote, table.dump()]).toEqual([0, []]);
    expect(text?.length).toBeLessThanOrEqual(1200);
  });

  it('trigger times of many pods are kept in buckets, of which a change writes only its own', async () => {
    const { save } = store();
    const first = await save({ ep: times(500), sl: times(500) });
    expect(first.read).toEqual({ ep: times(500), sl: times(500) });
    expect(first.wrote).toBe(16);
    const changed = { ...times(500), pods: new Map(times(500).pods).set('deployment-6b7f9c-7', 5) };
    const second = await save({ ep: changed, sl: changed });
    expect(second.read).toEqual({ ep: changed, sl: changed });
    expect(second.wrote).toBe(1);
    expect((await save({ ep: changed, sl: changed })).wrote).toBe(0);
  });

  it('leave no bucket behind when they shrink or go', async () => {
    const { table, save } = store();
    await save({ ep: times(500), sl: times(500) });
    expect((await save({ ep: times(100), sl: times(100) })).read).toEqual({ ep: times(100), sl: times(100) });
    expect((await save({ ep: times(3), sl: times(3) })).read).toEqual({ ep: times(3), sl: times(3) });
    expect(table.dump()).toEqual([]);
    expect((await save({ ep: undefined, sl: undefined })).text).toBeNull();
  });

  it('trigger times of the two controllers may differ, or one may have none', async () => {
    const { save } = store();
    for (const next of [
      { ep: times(2), sl: times(3) },
      { ep: times(300), sl: times(300, 7) },
      { ep: undefined, sl: times(300) },
      { ep: times(1), sl: undefined },
    ]) {
      expect((await save(next)).read).toEqual(next);
    }
  });

  it('come back as they were, whatever the pods are called', async () => {
    const part = fc.option(
      fc.record({
        service: fc.nat(),
        pods: fc.array(fc.tuple(fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('constructor', 'a/b', '#')), fc.nat()), { maxLength: 200 }),
      }),
      { nil: undefined },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ ep: part, sl: part }), { minLength: 1, maxLength: 3 }), async (states) => {
        const { save } = store();
        for (const { ep, sl } of states) {
          const next = { ep: ep && { ...ep, pods: new Map(ep.pods) }, sl: sl && { ...sl, pods: new Map(sl.pods) } };
          expect((await save(next)).read).toEqual(next);
        }
      }),
      { numRuns: 60 },
    );
  });
});
