import { expect, it } from 'vitest';
import { decodeMessage, encodeMessage } from '#shared/queue/codec.ts';
import { encodeEntries, type LiveOutputs, readEvents } from '#shared/queue/events.ts';

it('an entry of an output kind comes back for its second look with every field that it came with', () => {
  const bare = { namespace: 'ns', name: 'y', resourceVersion: '5', uid: '', service: '' };
  const full = {
    ...{
      ...bare,
      uid: 'o',
      generation: 2,
      service: 'svc',
      formerService: 'before',
      managedBy: 'us',
      deleted: true,
      leader: true,
    },
    ...{ isOwnWrite: true, secondLook: true, object: { metadata: { name: 'y' } }, observedAtMs: 7 },
  };
  const header = { v: 1, cluster: 'c', session: 's', uid: 'u', firstListVersion: '1' };
  const message = { ...header, type: 'live', kind: 'EndpointSlice', asOf: '5', entries: [full, bare] };
  const events = readEvents(encodeMessage(message)) as LiveOutputs;
  expect(decodeMessage(encodeEntries(events, events.entries))).toEqual(message);
});
