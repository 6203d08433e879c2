import { describe, expect, it } from 'vitest';
import { isSuspicious, planPage, type StoredObject } from '#functions/ingest/inputs/list-plan.ts';
import type { VersionedEntry } from '#functions/ingest/inputs/object-plan.ts';
import { type ObjectRecord, objectHeadOf } from '#shared/store/inputs/objects.ts';
import { versionOf } from '#shared/store/version.ts';

const stored = (name: string, rv: string, more: Partial<ObjectRecord> = {}): StoredObject =>
  objectHeadOf({
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
const plan = (objects: readonly StoredObject[], ...entries: readonly VersionedEntry[]) =>
  planPage(new Map(objects.map((o) => [`ns/${o.name}`, o])), entries, versionOf(1, '20'));
const names = (objects: readonly StoredObject[]): readonly string[] => objects.map((o) => o.name);

describe('planPage', () => {
  it('writes each entry of the part against what is stored of its object', () => {
    const known = stored('known', '5');
    expect(plan([known], listed('known'), listed('new')).write).toEqual([
      { entry: listed('known'), stored: known },
      { entry: listed('new'), stored: undefined },
    ]);
  });

  it('takes an object for deleted that is stored as older than the list and is not in it', () => {
    const page = plan(
      [stored('gone', '5'), stored('created-since', '21'), stored('listed', '5')],
      listed('listed'),
    );
    expect(names(page.tombstone)).toEqual(['gone']);
    expect(page.alive).toBe(3);
  });

  it('notifies again for an unlisted record whose services are pending, but not for one that it deletes now', () => {
    const unnotifiedLabels = [{ app: 'a' }];
    const page = plan([
      stored('dead', '5', { ...tombstone, unnotifiedLabels }),
      stored('newer', '21', { unnotifiedLabels }),
    ]);
    expect(names(page.pending)).toEqual(['dead', 'newer']);
    expect(names(plan([stored('gone', '5', { unnotifiedLabels })]).pending)).toEqual([]);
  });

  it('lets a tombstone go that is no newer than the list and has no services to notify', () => {
    const page = plan([
      stored('old', '20', tombstone),
      stored('newer', '21', tombstone),
      stored('owing', '5', { ...tombstone, unnotifiedLabels: [] }),
    ]);
    expect(names(page.redundant)).toEqual(['old']);
    expect(page.alive).toBe(0);
  });
});

describe('isSuspicious', () => {
  const taking = (deleted: number, alive: number): boolean =>
    isSuspicious(
      { tombstone: Array.from({ length: deleted }, (_, i) => stored(`${i}`, '5')), alive },
      { suspiciousCount: 20, suspiciousShare: 0.2 },
    );

  it.each([
    [20, 20, false],
    [21, 200, false],
    [21, 105, false],
    [21, 104, true],
  ])('for a part that takes away %i of %i objects is %s', (deleted, alive, expected) =>
    expect(taking(deleted, alive)).toBe(expected),
  );
});
