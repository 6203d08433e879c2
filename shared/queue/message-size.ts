import type { Entry } from './messages.ts';

/** Bytes that the entry takes in its message's JSON. */
export const sizeOf = (entry: Entry): number => Buffer.byteLength(JSON.stringify(entry)) + 1;
