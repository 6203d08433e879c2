/** Parts of the projections of several kinds. */
import type { InputKind } from '../types.ts';

/** Throws a SyntaxError on text that is no projection. */
export function parsedProjection(kind: InputKind, text: string): readonly unknown[] {
  const encoded: unknown = JSON.parse(text);
  if (!Array.isArray(encoded) || encoded.length === 0)
    throw new SyntaxError(`not the projection of a ${kind}: ${text.slice(0, 80)}`);
  return encoded;
}

/** Seconds since the epoch, or the text itself where it is not a whole second in UTC; 0 for none. */
export type Time = number | string;

export function encodeTime(text: string | null | undefined): Time {
  if (!text) return 0;
  const seconds = Date.parse(text) / 1000;
  // the epoch itself stays text: 0 means none
  return seconds !== 0 && Number.isInteger(seconds) && rfc3339(seconds) === text ? seconds : text;
}

const rfc3339 = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

/** An optional time field, left out if it is empty. */
export function time<N extends string>(field: N, t: Time): { readonly [K in N]?: string } {
  return (t === 0 ? {} : { [field]: typeof t === 'number' ? rfc3339(t) : t }) as {
    readonly [K in N]?: string;
  };
}
