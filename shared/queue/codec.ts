/**
 * The body of a message. Small bodies are plain JSON, readable in any console. Bodies above 4 KB are `z:` +
 * base64 of raw deflate, which shrinks an events message of 32 KB to about a sixth.
 */
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { defaultLimits, type QueueLimits } from '#shared/contract/limits.ts';

const prefix = 'z:';
/**
 * Characters that SQS refuses. JSON.stringify escapes the rest of them (control characters, lone surrogates).
 */
const refusedBySqs = /[\uFFFE\uFFFF]/;

export function encodeMessage(message: object, { plainBytes }: QueueLimits = defaultLimits.queue): string {
  const text = JSON.stringify(message);
  if (Buffer.byteLength(text) <= plainBytes && !refusedBySqs.test(text)) return text;
  return prefix + deflateRawSync(text).toString('base64');
}

/** Returns the JSON value in the body, whose shape the caller checks. Throws UnreadableMessage. */
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
  if (isTooDeep(message))
    throw new UnreadableMessage(`message is nested too deeply: at most ${maxLevels} levels are allowed`);
  return message;
}

/** Maximum depth of a message. The sent fields of Kubernetes objects are less deep. */
const maxLevels = 20;

/**
 * Returns true if a value is nested too deeply. JSON.parse takes any depth, but JSON.stringify is limited by
 * the stack when the value is saved or sent.
 */
export const isTooDeep = (value: unknown, levels = maxLevels): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((below) => isTooDeep(below, levels - 1)));

/**
 * Estimates the memory of the decoded message, bytes, which the size of a compressed body does not show.
 * Returns 0 for an unreadable one.
 */
export function memoryOf(body: string, limits: QueueLimits = defaultLimits.queue): number {
  try {
    const bytes = unfold(body, limits);
    return 2 * bytes.byteLength + bytesPerValue * checkValues(bytes, limits);
  } catch {
    return 0;
  }
}

/** An empty object in a list takes twice as much, and counts twice because of its brace and its comma. */
const bytesPerValue = 36;

/** The body is unreadable, and a retry would fail the same way. */
export class UnreadableMessage extends Error {
  override readonly name = 'UnreadableMessage';
}

function unfold(body: string, { inflateBytes }: QueueLimits): Uint8Array {
  if (!body.startsWith(prefix)) return Buffer.from(body);
  const base64 = body.slice(prefix.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    throw new UnreadableMessage(`compressed message is not base64: ${excerpt(base64)}`);
  try {
    return inflateRawSync(Buffer.from(base64, 'base64'), {
      maxOutputLength: inflateBytes,
      finishFlush: constants.Z_FINISH,
    });
  } catch (cause) {
    const why =
      (cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'
        ? `holds more than ${inflateBytes} bytes`
        : 'does not inflate to text';
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

/**
 * Returns the number of values in the JSON, by the character before each value outside of strings. They are
 * counted before memory is allocated for them.
 */
function checkValues(json: Uint8Array, { maxValues }: QueueLimits): number {
  let values = 0;
  let inText = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === quote) inText = !inText;
    else if (byte === backslash) i++;
    else if (!inText && (byte === comma || byte === bracket || byte === brace)) values++;
  }
  if (values > maxValues)
    throw new UnreadableMessage(`message has ${values} values: at most ${maxValues} are allowed`);
  return values;
}
const [quote, backslash, comma, bracket, brace] = [...'"\\,[{'].map((c) => c.charCodeAt(0));

const excerpt = (text: string): string => printable(text.slice(0, 80));

/**
 * Returns JSON in one line without control characters, which a terminal would interpret. JSON itself escapes
 * only the lower half of them.
 */
export const printable = (value: unknown): string =>
  (JSON.stringify(value) ?? typeof value).replace(
    /[\u007f-\u009f]/g,
    (c) => `\\u00${c.charCodeAt(0).toString(16)}`,
  );
