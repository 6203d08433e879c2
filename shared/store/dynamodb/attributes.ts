/** Converts items to DynamoDB's attribute values: S, N, B and NS, the four types of the port. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { tableKey } from '#shared/contract/table-attributes.ts';
import type { Item, Key, Value } from '../table.ts';

export function encodeItem(item: Item): Record<string, AttributeValue> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, encodeValue(value)]));
}

/** Throws on values that the port does not allow, such as undefined, instead of dropping them silently. */
export function encodeValue(value: Value): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: encodeNumber(value) };
  if (value instanceof Uint8Array) return { B: value };
  if (value instanceof Set && value.size > 0) return { NS: [...value].map(encodeNumber) };
  throw new TypeError(`not a value of the table: ${value instanceof Set ? 'an empty set' : String(value)}`);
}

export function decodeItem(item: Record<string, AttributeValue>): Item {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, decodeValue(name, value)]),
  ) as Item;
}

function decodeValue(name: string, value: AttributeValue): Value {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  // The SDK returns a Buffer. As a plain Uint8Array equal bytes compare as equal.
  if (value.B !== undefined)
    return new Uint8Array(value.B.buffer as ArrayBuffer, value.B.byteOffset, value.B.byteLength);
  if (value.NS !== undefined) return new Set(value.NS.map(Number));
  throw new TypeError(
    `attribute ${name} has a type that the table does not use: ${Object.keys(value).join()}`,
  );
}

function encodeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`not a number of the table: ${value}`);
  return String(value);
}

export const encodeKey = ({ pk, sk }: Key): Record<string, AttributeValue> => ({
  [tableKey.partition]: { S: pk },
  [tableKey.sort]: { S: sk },
});

/** The key of an item, whose other attributes may have any type. */
export function keyOf(item: Record<string, AttributeValue>): Key {
  const { pk, sk } = decodeItem(
    Object.fromEntries(Object.values(tableKey).map((name) => [name, item[name] as AttributeValue])),
  );
  return { pk, sk };
}
