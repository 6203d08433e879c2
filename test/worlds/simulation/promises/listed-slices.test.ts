import { beforeEach, expect, it } from 'vitest';
import type { EndpointSlice } from '#shared/kube/types.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import { ListedSlices } from './listed-slices.ts';
import { mirroredBy } from './truth.ts';

const [actor, other] = [{}, {}] as [Actor, Actor];
const slice = (name: string, ready = true, labels = {}): EndpointSlice => ({
  metadata: { namespace: 'a', name, labels },
  addressType: 'IPv4',
  endpoints: [
    { addresses: ['10.0.0.1'], conditions: { ready }, targetRef: { kind: 'Pod', name: 'p', uid: 'uid-p' } },
  ],
});
let slices: ListedSlices;
const show = (who: Actor, service = 'web'): boolean => slices.showReady(who, 'a', service, 'uid-p');

beforeEach(() => {
  slices = new ListedSlices();
  slices.listed(actor, 'a', 'web', [slice('ours'), slice('theirs')]);
});

it('a pod is shown by the worker’s own lists of the service, and not by another worker’s', () => {
  expect([show(actor), show(actor, 'api'), show(other)]).toEqual([true, false, false]);
});

it('slices that the hub has written since show nothing until they are listed again', () => {
  slices.written('a', 'ours');
  expect(show(actor)).toBe(true);
  slices.written('a', 'theirs');
  expect(show(actor)).toBe(false);
  slices.listed(actor, 'a', 'web', [slice('theirs')]);
  expect(show(actor)).toBe(true);
});

it('a newer list of the service takes the place of an older one, and leaves those of other services', () => {
  slices.listed(actor, 'a', 'api', [slice('api-1')]);
  slices.listed(actor, 'a', 'web', [
    slice('theirs', false),
    slice('mirror', true, { 'endpointslice.kubernetes.io/managed-by': mirroredBy }),
  ]);
  expect([show(actor), show(actor, 'api')]).toEqual([false, true]);
});
