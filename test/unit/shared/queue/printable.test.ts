import { expect, it } from 'vitest';
import { decodeMessage, encodeMessage } from '#shared/queue/codec.ts';
import { parseEventsMessage } from '#shared/queue/parse.ts';

const controls = String.fromCharCode(
  ...Array.from({ length: 0x20 }, (_, i) => i),
  ...Array.from({ length: 0x21 }, (_, i) => 0x7f + i),
);

/** Returns the message of the error that the call throws. */
function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it did not throw');
}

it.each([
  ['a name', () => parseEventsMessage(encodeMessage({ v: 1, cluster: controls }))],
  ['a version', () => parseEventsMessage(encodeMessage({ v: controls }))],
  ['a body that is no message', () => decodeMessage(`hello ${controls}`)],
])('the reason why %s with control characters is refused has none itself', (_what, call) => {
  expect([...messageOf(call)].filter((c) => controls.includes(c))).toEqual([]);
});

it('a tenant may write control characters into fields that are never printed: an annotation does not make a message unreadable', () => {
  const projection = JSON.stringify([
    'uid',
    0,
    {},
    { 'service.kubernetes.io/topology-mode': controls },
    0,
    {},
  ]);
  const entry = { namespace: 'default', name: 'svc', resourceVersion: '1', projection };
  const message = {
    v: 1,
    cluster: 'c',
    session: 's',
    uid: 'u',
    firstListVersion: '1',
    type: 'live',
    kind: 'Service',
    asOf: '1',
    entries: [entry],
  };
  expect(parseEventsMessage(encodeMessage(message))).toEqual(message);
});
