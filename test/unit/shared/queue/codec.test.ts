import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { defaultLimits } from '#shared/contract/limits.ts';
import { decodeMessage, encodeMessage, UnreadableMessage } from '#shared/queue/codec.ts';

const packed = (bytes: Buffer) => `z:${deflateRawSync(bytes).toString('base64')}`;

it('a small message is plain JSON', () => {
  expect(encodeMessage({ v: 1, service: 'a' })).toBe('{"v":1,"service":"a"}');
});

it('a message above 4 KB is compressed and comes back the same', () => {
  const message = {
    v: 1,
    entries: Array.from({ length: 200 }, (_, i) => ({
      namespace: 'default',
      name: `web-${i}`,
      projection: '["uid",{"app":"web"}]',
    })),
  };
  const body = encodeMessage(message);
  expect(body).toMatch(/^z:/);
  expect(body.length).toBeLessThan(JSON.stringify(message).length / 5);
  expect(decodeMessage(body)).toEqual(message);
});

it('any JSON value survives encoding, in characters that SQS accepts', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ stringUnit: 'binary' }),
      fc.constantFrom('', 'x'.repeat(5000), '\uFFFF'),
      (value, padding) => {
        const body = encodeMessage({ value, padding });
        expect(body).toMatch(/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u);
        expect(decodeMessage(body)).toEqual(JSON.parse(JSON.stringify({ value, padding })));
      },
    ),
  );
});

it.each([
  ['text', 'hello', /not JSON/],
  ['nothing', '', /not JSON/],
  ['half a message', '{"v":1', /not JSON/],
  ['something that is not base64', 'z:###', /not base64/],
  ['nothing compressed', 'z:', /not base64/],
  ['bytes that are not deflated', 'z://///w==', /does not inflate/],
  [
    'half of the compressed bytes',
    packed(Buffer.from(JSON.stringify({ v: 1, name: 'web' }))).slice(0, 10),
    /does not inflate/,
  ],
  ['bytes that are not UTF-8', packed(Buffer.from([0x22, 0xff, 0x22])), /does not inflate/],
  ['a bomb', packed(Buffer.alloc(defaultLimits.queue.inflateBytes + 1, 0x20)), /more than 16777216 bytes/],
])('%s is refused', (_, body, why) => {
  expect(() => decodeMessage(body)).toThrow(why);
  expect(() => decodeMessage(body)).toThrow(UnreadableMessage);
});
