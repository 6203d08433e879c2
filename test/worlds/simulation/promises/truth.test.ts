import { expect, it } from 'vitest';
import type { Store } from '#infra/local/apiserver/store.ts';
import { labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import { shownPods } from './truth.ts';

it('a pod that two slices of a service show counts once: a run may write a new slice before it deletes the old one', () => {
  const slice = (...uids: readonly string[]) => ({
    metadata: { labels: { [labelServiceName]: 'web', [labelSliceManagedBy]: slicesManagedBy } },
    endpoints: uids.map((uid) => ({ conditions: { ready: uid !== 'not-ready' }, targetRef: { uid } })),
  });
  const store = { list: () => [slice('a', 'b', 'not-ready'), slice('a', 'not-ready')] } as unknown as Store;
  expect(shownPods(store, 'EndpointSlice', { namespace: 'ns', name: 'web' })).toEqual({
    ready: new Set(['a', 'b']),
    all: 3,
  });
});
