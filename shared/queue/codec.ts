/**
 * The body of a message. Small ones are JSON as it is, to be read in any console; above 4 KB they are `z:` + base64 of raw deflate,
 * which makes an events message of 32 KB about a sixth of that.
 */
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { defaultLimits, type QueueLimits } from '#shared/contract/limits.ts';

/** Of production. */
export const inflateLimitBytes = defaultLimits.queue.inflateBytes;
const prefix = 'z:';
/** SQS refuses these characters. The others that it refuses (control characters, lone surrogates) JSON.stringify escapes. */
const refusedBySqs = /[\uFFFE\uFFFF]/;

export function encodeMessage(message: object, { plainBytes }: QueueLimits = defaultLimits.queue): string {
  const text = JSON.stringify(message);
  if (Buffer.byteLength(text) <= plainBytes && !refusedBySqs.test(text)) return text;
  return prefix + deflateRawSync(text).toString('base64');
}

/** The JSON value in the body, of any shape: the caller checks it. Throws UnreadableMessage. */
export function decodeMessage(body: string, limits: QueueLimits = defaultLimits.queue): unknown {
  const bytes = unfold(body, limits);
  checkValues(bytes, limits);
  const text = textOf(bytes);
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch (cause) {
    throw new UnreadableMessage(`message is not JSON: ${excerpt(text)}`, { cause });
  }
  if (isTooDeep(message)) throw new UnreadableMessage(`message is nested too deeply: at most ${maxLevels} levels are allowed`);
  return message;
}

/** More than any object of Kubernetes has of what is sent. */
const maxLevels = 20;

/** JSON.parse takes any number of levels. JSON.stringify, which saves and sends the value again, takes as many as the stack has room for. */
export const isTooDeep = (value: unknown, levels = maxLevels): boolean =>
  typeof value === 'object' && value !== null && (levels === 0 || Object.values(value).some((below) => isTooDeep(below, levels - 1)));

/** About the memory that the decoded message takes, bytes. The size of a compressed body says nothing about it. Throws UnreadableMessage. */
export function memoryOf(body: string, limits: QueueLimits = defaultLimits.queue): number {
  const bytes = unfold(body, limits);
  return 2 * bytes.byteLength + bytesPerValue * checkValues(bytes, limits);
}

/** An empty object in a list takes twice as much, and counts twice: by its brace and by its comma. */
const bytesPerValue = 36;

/** A retry is of no use: the same body will not become readable. */
export class UnreadableMessage extends Error {
  override readonly name = 'UnreadableMessage';
}

function unfold(body: string, { inflateBytes }: QueueLimits): Uint8Array {
  if (!body.startsWith(prefix)) return Buffer.from(body);
  const base64 = body.slice(prefix.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new UnreadableMessage(`compressed message is not base64: ${excerpt(base64)}`);
  try {
    return inflateRawSync(Buffer.from(base64, 'base64'), { maxOutputLength: inflateBytes, finishFlush: constants.Z_FINISH });
  } catch (cause) {
    const why = (cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? `holds more than ${inflateBytes} bytes` : 'does not inflate to text';
    throw new UnreadableMessage(`compressed message ${why}`, { cause });
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UnreadableMessage('compressed message does not inflate to text', { cause });
  }
}

/** How many values the JSON has, by the character before each of them outside of strings: counted before any is allocated. */
function checkValues(json: Uint8Array, { maxValues }: QueueLimits): number {
  let values = 0;
  let inText = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === quote) inText = !inText;
    else if (byte === backslash) i++;
    else if (!inText && (byte === comma || byte === bracket || byte === brace)) values++;
  }
  if (values > maxValues) throw new UnreadableMessage(`message has ${values} values: at most ${maxValues} are allowed`);
  return values;
}
const [quote, backslash, comma, bracket, brace] = [...'"\\,[{'].map((c) => c.charCodeAt(0));

const excerpt = (text: string): string => printable(text.slice(0, 80));

/** JSON in one line without the control characters that a terminal obeys: JSON itself escapes only the lower half of them. */
export const printable = (value: unknown): string =>
  (JSON.stringify(value) ?? typeof value).replace(/[\u007f-\u009f]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
