/**
 * Bodies in a queue: a message with changes, as the codec writes it or another program would, or no message
 * at all.
 */
import { deflateRawSync } from 'node:zlib';
import fc, { type Arbitrary } from 'fast-check';
import { encodeMessage } from '#shared/queue/codec.ts';
import { cut, deepJson, type Mutation, mutated, someCut, someMutations } from './hostile.ts';

interface HostileMessage {
  readonly message: object;
  readonly changes: readonly Mutation[];
  readonly form: 'plain' | 'encoded' | 'compressed';
  readonly cut: number;
}

export type HostileBody = HostileMessage | string;

const compressed = (text: string): string => `z:${deflateRawSync(text).toString('base64')}`;
const bombs = ['[', '{},', ' ', '"', '漢'].map((unit) =>
  compressed(unit.repeat(Math.floor((16 << 20) / unit.length))),
);

const rawBody: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ minLength: 1, maxLength: 50 }) },
  { weight: 3, arbitrary: fc.base64String({ minLength: 4, maxLength: 80 }).map((text) => `z:${text}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(deepJson, `{"v":${deepJson}}`, `{"v":1,"more":${deepJson}}`, 'null', '[]'),
  },
  { weight: 1, arbitrary: fc.constantFrom(...bombs) },
);

export const hostileBody = (message: Arbitrary<object>): Arbitrary<HostileBody> =>
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        message,
        changes: someMutations,
        form: fc.constantFrom('plain', 'encoded', 'compressed'),
        cut: someCut,
      }),
    },
    { weight: 1, arbitrary: rawBody },
  );

const maxBytes = 1024 * 1024;

/** The bodies that SQS takes. `envelope`: what each message has besides. */
export const bodiesOf = (all: readonly HostileBody[], envelope: object): readonly string[] =>
  all
    .map((of) => (typeof of === 'string' ? of : bodyOf(of, envelope)))
    .filter((body) => body !== '' && Buffer.byteLength(body) <= maxBytes);

function bodyOf({ message, changes, form, cut: share }: HostileMessage, envelope: object): string {
  const whole = mutated({ ...envelope, ...message }, changes) as object;
  const text = JSON.stringify(whole) ?? 'null';
  return cut(
    form === 'plain' ? text : form === 'compressed' ? compressed(text) : encodeMessage(whole),
    share,
  );
}
