/**
 * The body of a message. Small ones are JSON as it is, to be read in any console; above 4 KB they are `z:` + base64 of raw deflate,
 * which makes an events message of 32 KB about a sixth of that.
 */
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { defaultLimits, type QueueLimits } from '#shared/contract/limits.ts';

/** Of production. */
export const inflateLimitBytes = defaultLimits.queue.inflateBytes;
const prefix = 'z:';
/** SQS refuses these; every other character it refuses JSON.stringify escapes (control characters, lone surrogates). */
const refusedBySqs = /[\uFFFE\uFFFF]/;

export function encodeMessage(message: object, { plainBytes }: QueueLimits = defaultLimits.queue): string {
  const text = JSON.stringify(message);
  if (Buffer.byteLength(text) <= plainBytes && !refusedBySqs.test(text)) return text;
  return prefix + deflateRawSync(text).toString('base64');
}

/** The JSON value that the body holds, of whatever shape: to be checked by who reads it. Throws UnreadableMessage. */
export function decodeMessage(body: string, limits: QueueLimits = defaultLimits.queue): unknown {
  const text = body.startsWith(prefix) ? inflate(body.slice(prefix.length), limits.inflateBytes) : body;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnreadableMessage(`message is not JSON: ${excerpt(text)}`, { cause });
  }
}

/** Never to be tried again: the same body will not become readable. */
export class UnreadableMessage extends Error {
  override readonly name = 'UnreadableMessage';
}

function inflate(base64: string, maxOutputLength: number): string {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new UnreadableMessage(`compressed message is not base64: ${excerpt(base64)}`);
  try {
    const bytes = inflateRawSync(Buffer.from(base64, 'base64'), { maxOutputLength, finishFlush: constants.Z_FINISH });
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    const why =
      (cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? `holds more than ${maxOutputLength} bytes` : 'does not inflate to text';
    throw new UnreadableMessage(`compressed message ${why}`, { cause });
  }
}

const excerpt = (text: string): string => JSON.stringify(text.slice(0, 80));
