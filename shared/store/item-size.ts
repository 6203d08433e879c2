import type { Item, Value } from './table.ts';

/** Bytes as DynamoDB counts them for limits and units. */
export function itemSize(item: Item): number {
  return Object.entries(item).reduce((bytes, [name, value]) => bytes + Buffer.byteLength(name) + valueSize(value), 0);
}

function valueSize(value: Value): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberSize(value);
  if (typeof value === 'boolean') return 1;
  if (value instanceof Uint8Array) return value.byteLength;
  return [...(value as ReadonlySet<number>)].reduce((bytes, n) => bytes + numberSize(n), 0);
}

/** One byte for two significant digits, and one more. */
function numberSize(value: number): number {
  const digits = String(Math.abs(value))
    .replace(/e.*$/, '')
    .replace('.', '')
    .replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1 + (value < 0 ? 1 : 0);
}
