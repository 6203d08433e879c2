/**
 * The purpose of upstream's slice tracker: distinguishing the echo of our own write from other clients'
 * writes (docs/develop/architecture.md, "Echo").
 */
import { describe, expect, it } from 'vitest';
import { isOwnEcho } from '#functions/ingest/outputs/echo.ts';
import { labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import type { OutputEntry } from '#shared/queue/messages.ts';
import type { OutputRecord } from '#shared/store/outputs/outputs.ts';
import { versionOf } from '#shared/store/version.ts';

const slice: EndpointSlice = {
  metadata: {
    name: 'svc-x',
    namespace: 'ns',
    uid: 'u',
    labels: { [labelServiceName]: 'svc', [labelSliceManagedBy]: slicesManagedBy },
  },
  addressType: 'IPv4',
  endpoints: [],
};
const saved: OutputRecord = {
  kind: 'EndpointSlice',
  name: 'svc-x',
  uid: 'u',
  version: versionOf(1, '10'),
  generation: 2,
  object: slice,
};
const gone: OutputRecord = { ...saved, object: undefined };
const entry: OutputEntry = {
  namespace: 'ns',
  name: 'svc-x',
  uid: 'u',
  resourceVersion: '11',
  generation: 2,
  service: 'svc',
  managedBy: slicesManagedBy,
};

const explained = (record: OutputRecord | undefined, change: Partial<OutputEntry>): boolean => {
  const e = { ...entry, ...change };
  return isOwnEcho('EndpointSlice', record, e, versionOf(1, e.resourceVersion));
};

describe('a slice event [UT-59 TestEndpointSliceTracker…]', () => {
  it.each<[string, OutputRecord | undefined, Partial<OutputEntry>, boolean]>([
    ['of the version that was written', saved, { resourceVersion: '10' }, true],
    ['of an older version', saved, { resourceVersion: '9', generation: 1 }, true],
    ['of a newer version with the same generation: annotations', saved, {}, true],
    ['of a newer generation', saved, { generation: 3 }, false],
    ['of a higher generation that is an older version', saved, { resourceVersion: '9', generation: 3 }, true],
    ['of a slice that was never written, with our managed-by', undefined, {}, false],
    ['of a slice of somebody else', undefined, { managedBy: 'me' }, true],
    ['of a slice made anew under its name', saved, { uid: 'other', generation: 1 }, false],
    ['of another service', saved, { service: 'other' }, false],
    ['of another managed-by', saved, { managedBy: 'me' }, false],
    ['that tells of a deletion that we did not make', saved, { deleted: true }, false],
    ['that tells of the deletion that we made', gone, { deleted: true }, true],
    ['of an older version of what we deleted', gone, { resourceVersion: '9' }, true],
    [
      'of a slice that had left the service and is back',
      gone,
      { resourceVersion: '12', generation: 3 },
      false,
    ],
    ['that shows another in place of what we deleted', gone, { uid: 'other' }, false],
    [
      'that tells of the deletion of a slice of somebody else',
      undefined,
      { deleted: true, managedBy: 'me' },
      true,
    ],
    [
      'that tells of the deletion of one of ours that is not saved, perhaps not yet',
      undefined,
      { deleted: true },
      false,
    ],
  ])('%s', (_what, record, change, expected) => {
    expect(explained(record, change)).toBe(expected);
  });
});

describe('an event of Endpoints, which have no generation', () => {
  const endpoints: OutputRecord = { ...saved, kind: 'Endpoints', name: 'svc', generation: 0 };
  const of = (record: OutputRecord | undefined, rv: string, change: Partial<OutputEntry> = {}) =>
    isOwnEcho(
      'Endpoints',
      record,
      { namespace: 'ns', name: 'svc', uid: 'u', resourceVersion: rv, service: 'svc', ...change },
      versionOf(1, rv),
    );

  it('an event of Endpoints, which have no generation, is explained up to the version that was written, and when they were never ours', () => {
    expect([of(endpoints, '9'), of(endpoints, '10'), of(undefined, '11')]).toEqual([true, true, true]);
    expect([of(endpoints, '11'), of(endpoints, '11', { deleted: true })]).toEqual([false, false]);
  });
});
