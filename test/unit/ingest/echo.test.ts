import { describe, expect, it } from 'vitest';
import {
  classify,
  isOwnEcho,
  mayBeWithoutService,
  type Observation,
} from '#functions/ingest/outputs/echo.ts';
import {
  endpointsManagedBy,
  labelServiceName,
  labelSliceManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import type { OutputEntry } from '#shared/queue/messages.ts';
import type { OutputRecord } from '#shared/store/outputs/outputs.ts';
import { versionOf } from '#shared/store/version.ts';

const by = slicesManagedBy;
const object = { metadata: { name: 'o', labels: { [labelServiceName]: 'svc', [labelSliceManagedBy]: by } } };
const saved = (rv: string, more: Partial<OutputRecord> = {}): OutputRecord => ({
  kind: 'EndpointSlice',
  name: 'o',
  uid: 'u',
  version: versionOf(1, rv),
  generation: 2,
  object,
  ...more,
});
const seen = (rv: string, more: Partial<OutputEntry> = {}): OutputEntry => ({
  namespace: 'ns',
  name: 'o',
  resourceVersion: rv,
  uid: 'u',
  generation: 2,
  service: 'svc',
  managedBy: by,
  ...more,
});
const slice = (s: OutputRecord | undefined, e: OutputEntry): boolean =>
  isOwnEcho('EndpointSlice', s, e, versionOf(1, e.resourceVersion));
const endpoints = (s: OutputRecord | undefined, e: OutputEntry): boolean =>
  isOwnEcho('Endpoints', s, e, versionOf(1, e.resourceVersion));

describe('isOwnEcho holds for', () => {
  it.each([
    ['what is saved as it is', slice(saved('10'), seen('10'))],
    ['a version before the saved one', slice(saved('10'), seen('9'))],
    [
      'the echo of our own deletion',
      slice(saved('10', { object: undefined }), seen('12', { deleted: true })),
    ],
    ['a slice of which only annotations changed', slice(saved('10'), seen('12'))],
    ['a slice that is not ours', slice(undefined, seen('12', { managedBy: 'somebody' }))],
    [
      'Endpoints that we never wrote, at the second look',
      endpoints(undefined, seen('12', { secondLook: true })),
    ],
    ['our last write of Endpoints', endpoints(saved('10'), seen('10'))],
  ])('%s', (_what, explained) => expect(explained).toBe(true));
});

describe('isOwnEcho does not hold for', () => {
  it.each([
    ['a slice whose content changed', slice(saved('10'), seen('12', { generation: 3 }))],
    ['a slice that was given to another service', slice(saved('10'), seen('12', { service: 'other' }))],
    ['a slice that was given another manager', slice(saved('10'), seen('12', { managedBy: 'somebody' }))],
    ['a slice that lost its manager', slice(saved('10'), seen('12', { managedBy: undefined }))],
    ['a slice that somebody deleted', slice(saved('10'), seen('12', { deleted: true }))],
    ['a slice that had been given away and is back', slice(saved('10', { object: undefined }), seen('12'))],
    ['another slice of that name', slice(saved('10'), seen('12', { uid: 'other' }))],
    [
      'another object of that name after our deletion',
      slice(saved('10', { object: undefined }), seen('12', { uid: 'other' })),
    ],
    ['a slice of ours that is not saved yet', slice(undefined, seen('12'))],
    ['a slice of ours that was deleted before it was saved', slice(undefined, seen('12', { deleted: true }))],
    ['any newer version of Endpoints: it may be a late worker’s', endpoints(saved('10'), seen('12'))],
    ['Endpoints that were deleted', endpoints(saved('10'), seen('12', { deleted: true }))],
    [
      'Endpoints that were deleted before they were saved',
      endpoints(undefined, seen('12', { deleted: true })),
    ],
  ])('%s', (_what, explained) => expect(explained).toBe(false));
});

describe('classify', () => {
  const observation = (more: Partial<Observation> = {}, entry: Partial<OutputEntry> = {}): Observation => ({
    kind: 'EndpointSlice',
    saved: saved('10'),
    seen: seen('12', entry),
    version: versionOf(1, '12'),
    listedAt: undefined,
    isWithoutService: false,
    ...more,
  });
  const second = { secondLook: true } as const;

  it.each<[string, Observation, string]>([
    ['an echo of what is saved', observation(), 'ours'],
    ['an echo of what is saved by the second look', observation({}, second), 'ours-or-unsaved'],
    [
      'an object of others, of which nothing is saved',
      observation({ saved: undefined }, { managedBy: 'somebody' }),
      'ours-or-unsaved',
    ],
    ['a slice of ours that is not saved', observation({ saved: undefined }), 'look-again'],
    [
      'a slice of ours that is not saved by the second look',
      observation({ saved: undefined }, second),
      'foreign',
    ],
    ['a change of content', observation({}, { generation: 3 }), 'look-again'],
    [
      'a change of content that is still not saved by the second look',
      observation({}, { generation: 3, ...second }),
      'foreign',
    ],
    [
      'Endpoints of ours whose Service is gone',
      observation({ kind: 'Endpoints', saved: undefined, isWithoutService: true }, second),
      'foreign',
    ],
    [
      'an object that a list shows as older than what was saved before that list',
      observation({ version: versionOf(1, '9'), listedAt: versionOf(1, '20') }),
      'rewound',
    ],
    [
      'a slice that a list has in the version in which it was deleted',
      observation({ saved: saved('12', { object: undefined }), listedAt: versionOf(1, '20') }),
      'rewound',
    ],
    [
      'a late event of a slice that was deleted',
      observation({ saved: saved('12', { object: undefined }) }),
      'ours',
    ],
    [
      'an object that was saved after the list was made',
      observation({ version: versionOf(1, '9'), listedAt: versionOf(1, '9') }),
      'ours',
    ],
  ])('%s is decided as expected', (_what, seen, verdict) => expect(classify(seen)).toBe(verdict));

  it('a second look reads the Service only for unsaved Endpoints with our label', () => {
    const mayBe = (entry: Partial<OutputEntry>, record?: OutputRecord): boolean =>
      mayBeWithoutService({
        kind: 'Endpoints',
        saved: record,
        seen: seen('12', { managedBy: endpointsManagedBy, ...second, ...entry }),
      });
    expect(mayBe({})).toBe(true);
    expect([
      mayBe({ deleted: true }),
      mayBe({ leader: true }),
      mayBe({ managedBy: 'somebody' }),
      mayBe({}, saved('10')),
    ]).toEqual([false, false, false, false]);
  });
});
