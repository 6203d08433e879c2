import { expect, it } from 'vitest';
import { decodeMessage, encodeMessage } from '#shared/queue/codec.ts';
import { encodeSecondLook, type LiveOutputs, readEvents } from '#shared/queue/events.ts';

const header = { v: 1, cluster: 'c', session: 's', uid: 'u', base: '1' };
const full = {
  ns: 'ns',
  name: 'svc-x',
  rv: '5',
  uid: 'o',
  gen: 2,
  svc: 'svc',
  oldSvc: 'before',
  by: 'us',
  gone: true,
  leader: true,
  again: true,
  body: { metadata: { name: 'svc-x' } },
  seen: 7,
};
const live = (...entries: readonly object[]) => ({ ...header, type: 'live', kind: 'EndpointSlice', asOf: '5', entries });

it('an entry of an output kind comes back for its second look with every field that it came with', () => {
  const bare = { ns: 'ns', name: 'y', rv: '5', uid: '', svc: '' };
  const message = live(full, bare);
  const events = readEvents(encodeMessage(message)) as LiveOutputs;
  expect(decodeMessage(encodeSecondLook(events))).toEqual(message);
});

it('a field of the queue has one name in the code, and a field that is absent stays absent', () => {
  expect(readEvents(encodeMessage(live(full)))).toMatchObject({
    firstListVersion: '1',
    entries: [
      {
        namespace: 'ns',
        resourceVersion: '5',
        generation: 2,
        service: 'svc',
        formerService: 'before',
        managedBy: 'us',
        deleted: true,
        leader: true,
        secondLook: true,
        object: full.body,
        observedAtMs: 7,
      },
    ],
  });
  const [bare] = (readEvents(encodeMessage(live({ ns: 'ns', name: 'y', rv: '5', uid: '', svc: '' }))) as LiveOutputs).entries;
  expect(bare).toEqual({ namespace: 'ns', name: 'y', resourceVersion: '5', uid: '', service: '' });
});

it('a part of a list and a heartbeat are read with their numbers, versions and flags by name', () => {
  const part = { ...header, type: 'list', kind: 'Pod', asOf: '9', listId: 'l', i: 3, last: true, from: 'a/a', to: '', entries: [] };
  expect(readEvents(encodeMessage({ ...part, wentBackAt: 8 }))).toMatchObject({
    partNumber: 3,
    isLast: true,
    isConfirmed: false,
    historyRewoundAtMs: 8,
    from: 'a/a',
  });
  const heartbeat = { ...header, type: 'heartbeat', high: { Pod: '5' }, at: 6 };
  expect(readEvents(encodeMessage(heartbeat))).toMatchObject({ type: 'heartbeat', readUpTo: { Pod: '5' }, sentAtMs: 6 });
});
