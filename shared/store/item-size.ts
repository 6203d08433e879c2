import type { Item, Value } from './table.ts';

/** Returns the size in bytes by DynamoDB's rules for limits and units. */
export function itemSize(item: Item): number {
  let bytes = 0;
  for (const name in item) bytes += Buffer.byteLength(name) + valueSize(item[name] as Value);
  return bytes;
}

function valueSize(value: Value): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberSize(value);
  if (value instanceof Uint8Array) return value.byteLength;
  return [...(value as ReadonlySet<number>)].reduce((bytes, n) => bytes + numberSize(n), 0);
}

/** DynamoDB counts a byte for every two significant digits of a number, and one more. */
function numberSize(value: number): number {
  return Math.ceil(significantDigits(value) / 2) + 1 + (value < 0 ? 1 : 0);
}

function significantDigits(value: number): number {
  // Nearly all stored numbers are versions, times or counts, so this is the fast path.
  if (Number.isSafeInteger(value) && value % 10 !== 0) return String(Math.abs(value)).length;
  return String(Math.abs(value))
    .replace(/e.*$/, '')
    .replace('.', '')
    .replace(/^0+|0+$/g, '').length;
}
