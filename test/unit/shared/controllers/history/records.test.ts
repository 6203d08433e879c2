/**
 * Records of the history: what is made of outputs before and after, as text, and as a time line that can be
 * gone back.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { missingRecords } from '#infra/cli/ask/history/missing-records.ts';
import { withRepeatsCounted } from '#infra/cli/ask/history/repeats.ts';
import { runText } from '#infra/cli/ask/history/sentences.ts';
import { addressesThen, newestChanges, statesThen } from '#infra/cli/ask/history/then.ts';
import { type Addresses, addressesOf } from '#shared/controllers/history/addresses.ts';
import { changesBetween } from '#shared/controllers/history/changes.ts';
import { type HistoryRecord, isWorthKeeping } from '#shared/controllers/history/history-record.ts';
import { decodeRecord, encodeRecord } from '#shared/controllers/history/text.ts';
import type { Output } from '#shared/kube/listed-endpoints.ts';

const conditions = fc.constantFrom(
  { ready: true, serving: true, terminating: false },
  { ready: false, serving: false, terminating: false },
  { ready: false, serving: true, terminating: true },
  { ready: false, serving: false, terminating: true },
);
const podNames = fc.integer({ min: 0, max: 7 });
const ports = fc.constantFrom(
  [{ name: 'http', port: 80, protocol: 'TCP' }],
  [{ name: 'http', port: 8080, protocol: 'TCP' }],
  [],
);
const targetRef = (i: number) => ({ kind: 'Pod', name: `pod-${i}` });

const slice = fc
  .record({
    addressType: fc.constantFrom('IPv4', 'IPv6'),
    ports,
    endpoints: fc.uniqueArray(
      fc.record({ i: podNames, conditions, zone: fc.constantFrom('a', 'b', undefined) }),
      { selector: (e) => e.i },
    ),
  })
  .map(({ endpoints, ...rest }) => ({
    ...rest,
    metadata: { name: 's' },
    endpoints: endpoints.map(({ i, zone, ...e }) => ({
      ...e,
      addresses: [`10.0.0.${i}`],
      targetRef: targetRef(i),
      ...(zone && { zone }),
    })),
  }));
const endpoints = fc
  .record({ ready: fc.uniqueArray(podNames), notReady: fc.uniqueArray(podNames), ports })
  .map(({ ready, notReady, ports }) => {
    const list = (of: readonly number[]) => of.map((i) => ({ ip: `10.0.0.${i}`, targetRef: targetRef(i) }));
    const others = notReady.filter((i) => !ready.includes(i));
    return {
      metadata: { name: 'e' },
      subsets: [{ addresses: list(ready), notReadyAddresses: list(others), ports }],
    };
  });
const outputs = fc
  .tuple(fc.array(slice, { maxLength: 3 }), fc.option(endpoints))
  .map(([s, e]) => [...s, ...(e ? [e] : [])]);

const record = (atMs: number, more: Partial<HistoryRecord> = {}): HistoryRecord => ({
  atMs,
  generation: atMs,
  acceptedMs: atMs + 1,
  endedMs: atMs + 2,
  writes: { endpoints: 1, slices: 1 },
  endings: {},
  notes: [],
  changes: [],
  more: 0,
  times: 1,
  untilMs: atMs,
  ...more,
});

const recordsOf = (states: readonly (readonly Output[])[], maxNamed = 100): readonly HistoryRecord[] =>
  states.slice(1).map((state, i) => {
    const saved = addressesOf(states[i] as readonly Output[]);
    return record(
      1000 * (i + 1),
      changesBetween({ saved, found: saved }, addressesOf(state), {
        why: (pod, where) => ({ reason: 'Ready', why: `${pod} in ${where}` }),
        otherWriter: 'x',
        maxNamed,
      }),
    );
  });

const statesAt = (records: readonly HistoryRecord[], now: Addresses, atMs: number) =>
  new Map(
    [
      ...statesThen(
        records.filter((r) => r.atMs > atMs),
        now,
      ),
    ].map(([key, { state }]) => [key, state]),
  );
const listed = (state: readonly Output[]) =>
  new Map([...addressesOf(state)].map(([key, { state }]) => [key, state]));

const plenty = 64 * 1024;

describe('records of runs', () => {
  it('records lead from the current addresses back to those after each run', () => {
    fc.assert(
      fc.property(fc.array(outputs, { minLength: 2, maxLength: 6 }), (states) => {
        const now = addressesOf(states.at(-1) as readonly Output[]);
        const records = recordsOf(states);
        for (const [i, state] of states.entries()) {
          expect(statesAt(records, now, 1000 * i)).toEqual(listed(state));
          const then = addressesThen(records, now, 1000 * i + 1);
          expect(then.addresses.flatMap((a) => a.places)).toHaveLength(listed(state).size);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('records have for each named address its present state', () => {
    fc.assert(
      fc.property(fc.array(outputs, { minLength: 2, maxLength: 6 }), (states) => {
        const all = states.map(listed);
        const changed = all
          .slice(1)
          .flatMap((now, i) =>
            [...new Set([...now.keys(), ...(all[i]?.keys() ?? [])])].filter(
              (k) => now.get(k) !== all[i]?.get(k),
            ),
          );
        const newest = newestChanges(recordsOf(states));
        expect(changed.filter((key) => !newest.has(key))).toEqual([]);
        for (const [key, { to }] of newest) expect(all.at(-1)?.get(key)).toBe(to);
      }),
      { numRuns: 200 },
    );
  });

  it('a record names as many pods as it may, and counts the others', () => {
    fc.assert(
      fc.property(outputs, outputs, fc.nat(4), (before, after, most) => {
        const whole = recordsOf([before, after])[0] as HistoryRecord;
        const cut = recordsOf([before, after], most)[0] as HistoryRecord;
        const pods = (r: HistoryRecord) => new Set(r.changes.map((c) => c.pod)).size;
        expect(pods(cut) + cut.more).toBe(pods(whole));
        expect(pods(cut)).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('records are the same after they were text', () => {
    fc.assert(
      fc.property(fc.array(outputs, { minLength: 2, maxLength: 5 }), fc.string(), (states, text) => {
        const records = [
          ...recordsOf(states),
          record(5, {
            seenMs: 1,
            dueMs: 3,
            endings: { endpoints: { kind: 'failed', text }, slices: { kind: 'requeued', text } },
            gap: text,
          }),
          record(8, { isUnsaved: true, provesSlices: true }),
          record(9, {
            isFirst: true,
            writer: 'built-in',
            foundOtherwise: { endpoints: 2, slices: 0 },
            deletes: { endpoints: 1, slices: 0 },
          }),
          record(6, { heldBack: text, notes: [text], more: 3 }),
          record(7, {
            changes: [
              {
                pod: text,
                why: text,
                moves: [{ where: 'IPv4', address: text, from: 'a', to: undefined }],
                isRepair: true,
              },
            ],
          }),
        ];
        expect(records.map((r) => decodeRecord(encodeRecord(r, plenty)))).toEqual(records);
      }),
    );
  });

  it('an invalid text is not decoded, and fields of a later version are ignored', () => {
    expect(['', '{}', '[1]', '{"atMs":"x"}', 'null'].map(decodeRecord)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(decodeRecord(JSON.stringify({ ...record(5), future: { a: 1 } }))).toMatchObject(record(5));
  });

  it('a record that would be too long names fewer pods, and counts the others', () => {
    const change = (pod: string) => ({
      pod,
      why: 'é'.repeat(200),
      moves: [{ where: 'IPv4', address: pod, from: undefined, to: 'ready' }],
    });
    const whole = record(1, {
      changes: Array.from({ length: 100 }, (_, i) => [change(`p${i}`), change(`p${i}`)]).flat(),
      more: 7,
    });
    for (const most of [20_000, 2_000, 100]) {
      const text = encodeRecord(whole, most);
      const { changes, more } = decodeRecord(text) as HistoryRecord;
      const pods = new Set(changes.map(({ pod }) => pod)).size;
      if (pods > 0) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(most);
      expect([changes.length, more]).toEqual([2 * pods, 107 - pods]);
    }
    expect(decodeRecord(encodeRecord(whole, 20_000))?.changes.length).toBeGreaterThan(0);
    expect(decodeRecord(encodeRecord(whole, 100))?.more).toBe(107);
  });

  it('the change of an address is cut to a readable length, and its ports are named on both sides', () => {
    const address = (ports: string) => ({
      where: 'IPv4',
      address: 'a',
      pod: 'p',
      state: 'ready',
      details: { ports },
    });
    const [from, to] = [address('a'.repeat(300_000)), address('b'.repeat(300_000))];
    const before = new Map([['k', from]]);
    const { changes } = changesBetween({ saved: before, found: before }, new Map([['k', to]]), {
      why: () => ({ reason: 'Ready', why: '' }),
      otherWriter: 'x',
      maxNamed: 1,
    });
    expect(changes[0]?.moves[0]?.detail).toBe(`ports ${'a'.repeat(100)}… → ${'b'.repeat(100)}…`);
  });

  it('an address is said to be in Endpoints and slices, in whichever order the run has written them', () => {
    const address = (where: string) => ({ where, address: 'a', pod: 'p', state: 'ready', details: {} });
    const after = new Map(['IPv6', 'IPv4', 'Endpoints'].map((where) => [where, address(where)]));
    const none = new Map();
    const { changes } = changesBetween({ saved: none, found: none }, after, {
      why: () => ({ reason: 'Ready', why: '' }),
      otherWriter: 'x',
      maxNamed: 1,
    });
    expect(changes[0]?.moves.map((m) => m.where)).toEqual(['Endpoints', 'IPv4', 'IPv6']);
  });

  it('an address that two subsets list keeps no long text of ports of its own', () => {
    const ports = (x: string) =>
      Array.from({ length: 500 }, (_, i) => ({ name: `${x}-${i}`, port: i, protocol: 'TCP' }));
    const addresses = [{ ip: '10.0.0.1', targetRef: targetRef(1) }];
    const subsets = ['a', 'b', 'c'].map((x) => ({ addresses, ports: ports(x) }));
    const [listed] = addressesOf([{ metadata: { name: 'e' }, subsets } as unknown as Output]).values();
    expect(listed?.details['ports']?.length).toBeLessThan(2_100);
  });
});

describe('records in a row', () => {
  const held = (atMs: number, heldBack: string) =>
    record(atMs, { writes: { endpoints: 0, slices: 0 }, heldBack });

  it('a run that was held back like the one before it is counted there', () => {
    const counted = withRepeatsCounted([
      held(1, 'a'),
      held(2, 'a'),
      held(3, 'a'),
      held(4, 'b'),
      record(5),
      record(6),
    ]);
    expect(counted.map((r) => [r.atMs, r.times, r.untilMs])).toEqual([
      [1, 3, 3],
      [4, 1, 4],
      [5, 1, 5],
      [6, 1, 6],
    ]);
  });

  it('records are missing that the work item or a later record names, and that are not there', () => {
    const links = [
      { id: 50, previous: 40 },
      { id: 30, previous: 20 },
    ];
    expect(missingRecords(50, links, 0)).toEqual([40, 20]);
    expect(
      missingRecords(60, links, 30),
      'the newest has not been written, and the oldest has expired',
    ).toEqual([60, 40]);
    expect(missingRecords(undefined, [], 0)).toEqual([]);
    expect(missingRecords(5, [{ id: 5, previous: undefined }], 0)).toEqual([]);
  });

  it('a record is worth keeping if its run wrote, failed, was held back or found something, and not otherwise', () => {
    const quiet = record(1, { writes: { endpoints: 0, slices: 0 } });
    expect(isWorthKeeping(quiet)).toBe(false);
    expect(
      [record(1), { ...quiet, heldBack: 'x' }, { ...quiet, gap: 'x' }, { ...quiet, more: 1 }].every(
        isWorthKeeping,
      ),
    ).toBe(true);
    expect(isWorthKeeping({ ...quiet, endings: { slices: { kind: 'failed', text: 'x' } } })).toBe(true);
  });
});

describe('sentences', () => {
  it('a sentence has the changes of an address in each place', () => {
    const moves = [
      { where: 'Endpoints', address: '10.0.0.1', from: 'ready', to: undefined },
      { where: 'IPv4', address: '10.0.0.1', from: 'ready', to: 'not ready, terminating and serving' },
    ];
    expect(
      runText(
        record(0, { seenMs: -90, dueMs: -60, changes: [{ pod: 'p', why: 'terminating since x', moves }] }),
      ),
    ).toEqual({
      atMs: 1,
      kind: 'wrote',
      headline:
        '1970-01-01T00:00:00.001Z wrote Endpoints and 1 slice, accepted 91 ms after the relay saw the change (due 30 ms, run 90 ms after it)',
      lines: [
        'pod p: 10.0.0.1 removed from Endpoints, where it was ready; 10.0.0.1 changed in IPv4 slices: from ready to not ready, terminating and serving: terminating since x',
      ],
    });
  });

  it('a sentence of several runs begins with the first of them, and its end is never before that', () => {
    const quiet = {
      writes: { endpoints: 0, slices: 0 },
      acceptedMs: undefined,
      heldBack: 'paused',
      times: 3,
    };
    expect(runText(record(1000, { ...quiet, untilMs: 5000, endedMs: 5007 }))?.headline).toBe(
      '1970-01-01T00:00:01.000Z held back: paused, 3 times until 1970-01-01T00:00:05.000Z',
    );
    expect(runText(record(1000, { ...quiet, untilMs: 900, endedMs: 907 }))?.headline).toBe(
      '1970-01-01T00:00:01.000Z held back: paused, 3 times until 1970-01-01T00:00:01.000Z',
    );
  });

  it('a sentence separates deletions from writes', () => {
    const writes = { endpoints: 1, slices: 3 };
    const headline = (deletes: HistoryRecord['deletes']) =>
      runText(record(0, { writes, ...(deletes && { deletes }) }))?.headline.split(', ')[0];
    expect(headline(undefined)).toBe('1970-01-01T00:00:00.001Z wrote Endpoints and 3 slices');
    expect(headline({ endpoints: 1, slices: 1 })).toBe(
      '1970-01-01T00:00:00.001Z wrote 2 slices; deleted Endpoints and 1 slice',
    );
    expect(headline({ endpoints: 1, slices: 3 })).toBe(
      '1970-01-01T00:00:00.001Z deleted Endpoints and 3 slices',
    );
  });

  it('a sentence has a shared reason of both controllers once, and two reasons apart', () => {
    const quiet = { writes: { endpoints: 0, slices: 0 }, acceptedMs: undefined };
    const ending = (text: string) => ({ kind: 'requeued', text }) as const;
    const headline = (a: string, b: string) =>
      runText(record(0, { ...quiet, endings: { endpoints: ending(a), slices: ending(b) } }))?.headline;
    expect(headline('circuit: unreachable', 'circuit: unreachable')).toBe(
      '1970-01-01T00:00:00.002Z held back: circuit: unreachable',
    );
    expect(headline('a', 'b')).toBe(
      '1970-01-01T00:00:00.002Z Endpoints held back: a; EndpointSlices held back: b',
    );
  });
});
