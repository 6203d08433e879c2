/** What upstream's slice tracker is for: telling the echo of our own write from what somebody else did (docs/architecture.md, "Echo"). */
import { describe, expect, it } from 'vitest';
import { isExplained } from '#functions/ingest/explain.ts';
import { labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import type { OutputEntry } from '#shared/queue/messages.ts';
import type { OutputRecord } from '#shared/store/outputs.ts';
import { versionOf } from '#shared/store/version.ts';

const slice: EndpointSlice = {
  metadata: { name: 'svc-x', namespace: 'ns', uid: 'u', labels: { [labelServiceName]: 'svc', [labelSliceManagedBy]: slicesManagedBy } },
  addressType: 'IPv4',
  endpoints: [],
};
const saved: OutputRecord = { kind: 'EndpointSlice', name: 'svc-x', uid: 'u', version: versionOf(1, '10'), generation: 2, object: slice };
const gone: OutputRecord = { ...saved, object: undefined };
const entry: OutputEntry = { ns: 'ns', name: 'svc-x', uid: 'u', rv: '11', gen: 2, svc: 'svc', by: slicesManagedBy };

const explained = (record: OutputRecord | undefined, change: Partial<OutputEntry>): boolean => {
  const e = { ...entry, ...change };
  return isExplained('EndpointSlice', record, e, versionOf(1, e.rv));
};

describe('a slice event [UT-59 TestEndpointSliceTracker…]', () => {
  it.each<[string, OutputRecord | undefined, Partial<OutputEntry>, boolean]>([
    ['of the version that was written', saved, { rv: '10' }, true],
    ['of an older version', saved, { rv: '9', gen: 1 }, true],
    ['of a newer version with the same generation: annotations', saved, {}, true],
    ['of a newer generation', saved, { gen: 3 }, false],
    ['of a higher generation that is an older version', saved, { rv: '9', gen: 3 }, true],
    ['of a slice that was never written, with our managed-by', undefined, {}, false],
    ['of a slice of somebody else', undefined, { by: 'me' }, true],
    ['of a slice made anew under its name', saved, { uid: 'other', gen: 1 }, false],
    ['of another service', saved, { svc: 'other' }, false],
    ['of another managed-by', saved, { by: 'me' }, false],
    ['that tells of a deletion that we did not make', saved, { gone: true }, false],
    ['that tells of the deletion that we made', gone, { gone: true }, true],
    ['of an older version of what we deleted', gone, { rv: '9' }, true],
    ['of a slice that had left the service and is back', gone, { rv: '12', gen: 3 }, false],
    ['that shows another in place of what we deleted', gone, { uid: 'other' }, false],
    ['that tells of the deletion of a slice of somebody else', undefined, { gone: true, by: 'me' }, true],
    ['that tells of the deletion of one of ours that is not saved, perhaps not yet', undefined, { gone: true }, false],
  ])('%s', (_what, record, change, expected) => {
    expect(explained(record, change)).toBe(expected);
  });
});

describe('an event of Endpoints, which have no generation', () => {
  const endpoints: OutputRecord = { ...saved, kind: 'Endpoints', name: 'svc', generation: 0 };
  const of = (record: OutputRecord | undefined, rv: string, change: Partial<OutputEntry> = {}) =>
    isExplained('Endpoints', record, { ns: 'ns', name: 'svc', uid: 'u', rv, svc: 'svc', ...change }, versionOf(1, rv));

  it('is explained up to the version that was written, and when they were never ours', () => {
    expect([of(endpoints, '9'), of(endpoints, '10'), of(undefined, '11')]).toEqual([true, true, true]);
    expect([of(endpoints, '11'), of(endpoints, '11', { gone: true })]).toEqual([false, false]);
  });
});
