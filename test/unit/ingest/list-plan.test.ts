import { describe, expect, it } from 'vitest';
import { isSuspicious, planPage } from '#functions/ingest/inputs/list-plan.ts';
import type { VersionedEntry } from '#functions/ingest/inputs/object-plan.ts';
import type { ObjectRecord } from '#shared/store/objects.ts';
import { versionOf } from '#shared/store/version.ts';

const record = (name: string, rv: string, more: Partial<ObjectRecord> = {}): ObjectRecord => ({
  namespace: 'ns',
  name,
  version: versionOf(1, rv),
  projection: 'o',
  unnotifiedLabels: undefined,
  deletedAtMs: 0,
  ...more,
});
const tombstone = { projection: undefined, deletedAtMs: 1 };
const listed = (name: string): VersionedEntry => ({
  namespace: 'ns',
  name,
  version: versionOf(1, '10'),
  asOf: versionOf(1, '20'),
  projection: 'o',
  listed: true,
});
const plan = (stored: readonly ObjectRecord[], ...entries: readonly VersionedEntry[]) =>
  planPage(new Map(stored.map((r) => [`ns/${r.name}`, r])), entries, versionOf(1, '20'));
const names = (records: readonly ObjectRecord[]): readonly string[] => records.map((r) => r.name);

describe('planPage', () => {
  it('writes each entry of the part against the record that is stored of its object', () => {
    const known = record('known', '5');
    expect(plan([known], listed('known'), listed('new')).write).toEqual([
      { entry: listed('known'), record: known },
      { entry: listed('new'), record: undefined },
    ]);
  });

  it('takes an object for deleted that is stored as older than the list and is not in it', () => {
    const page = plan([record('gone', '5'), record('created-since', '21'), record('listed', '5')], listed('listed'));
    expect(names(page.tombstone)).toEqual(['gone']);
    expect(page.alive).toBe(3);
  });

  it('notifies again for an unlisted record whose services are pending, but not for one that it deletes now', () => {
    const unnotifiedLabels = [{ app: 'a' }];
    const page = plan([record('dead', '5', { ...tombstone, unnotifiedLabels }), record('newer', '21', { unnotifiedLabels })]);
    expect(names(page.pending)).toEqual(['dead', 'newer']);
    expect(names(plan([record('gone', '5', { unnotifiedLabels })]).pending)).toEqual([]);
  });

  it('lets a tombstone go that is no newer than the list and has no services to notify', () => {
    const page = plan([
      record('old', '20', tombstone),
      record('newer', '21', tombstone),
      record('owing', '5', { ...tombstone, unnotifiedLabels: [] }),
    ]);
    expect(names(page.redundant)).toEqual(['old']);
    expect(page.alive).toBe(0);
  });
});

describe('isSuspicious', () => {
  const taking = (deleted: number, alive: number): boolean =>
    isSuspicious({ tombstone: Array.from({ length: deleted }, (_, i) => record(`${i}`, '5')), alive }, { suspiciousCount: 20, suspiciousShare: 0.2 });

  it.each([
    [20, 20, false],
    [21, 200, false],
    [21, 105, false],
    [21, 104, true],
  ])('for a part that takes away %i of %i objects is %s', (deleted, alive, expected) => expect(taking(deleted, alive)).toBe(expected));
});
