import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { defaultLimits } from '#shared/contract/limits.ts';
import { maxMessageBytes } from '#shared/contract/sqs-limits.ts';
import { decodeMessage, encodeMessage } from '#shared/queue/codec.ts';
import { parseEventsMessage } from '#shared/queue/parse.ts';
import { encodeQuarantineCopy } from '#shared/queue/quarantine-copy.ts';

/** A part of a list that compresses badly. */
const part = (bytes: number): string => {
  const projection = JSON.stringify(['u', randomBytes(bytes).toString('base64')]);
  const header = {
    v: 1,
    cluster: 'c',
    session: 's',
    uid: 'u',
    firstListVersion: '1',
    type: 'list',
    kind: 'Service',
    asOf: '5',
  };
  const entries = [{ namespace: 'ns', name: 'a', resourceVersion: '5', projection }];
  return encodeMessage({ ...header, listId: 'l', partNumber: 0, from: '', to: '', entries });
};

const copyOf = (body: string): string =>
  encodeQuarantineCopy({ reason: 'not applied within 50 runs', from: 'events', cluster: 'c', body });

it.each([1_000, 100_000, 180_000])(
  'a list part of %s bytes can be read again from its copy in the quarantine',
  (bytes) => {
    const body = part(bytes);
    expect(body.length).toBeLessThanOrEqual(defaultLimits.relay.partBytes);
    const { body: original } = decodeMessage(copyOf(body)) as { body: string };
    expect(original).toBe(body);
    expect(parseEventsMessage(original).type).toBe('list');
  },
);

it('a message of nearly the limit of the queue is whole in its copy, and one of the limit is cut so that its copy fits', () => {
  const random = (bytes: number): string => randomBytes(bytes).toString('base64').slice(0, bytes);
  const most = random(maxMessageBytes - 50_000);
  expect(decodeMessage(copyOf(most))).toMatchObject({ body: most, from: 'events' });
  const copy = copyOf(random(maxMessageBytes));
  expect(copy.length).toBeLessThanOrEqual(maxMessageBytes);
  expect(decodeMessage(copy)).toMatchObject({ reason: 'not applied within 50 runs' });
});
