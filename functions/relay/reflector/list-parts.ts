/** Cuts a page of a list into message bodies. Each body covers a key range completely. */
import { defaultLimits, type Limits } from '#shared/contract/limits.ts';
import type { Kind } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import type { Entry, EventsHeader } from '#shared/queue/messages.ts';
import { sizeOf } from '../projection/message-size.ts';

/** Fields that all pages of one list share. */
export interface ListHeader {
  readonly header: EventsHeader;
  readonly kind: Kind;
  readonly asOf: string;
  readonly listId: string;
}

/** An object of a page. Without an entry it exists but cannot be sent. */
export interface Listed {
  readonly key: string;
  readonly entry: Entry | undefined;
}

/** The message bodies of a page, and the keys of the objects that are too large for any of them. */
export interface EncodedPage {
  readonly bodies: readonly string[];
  readonly tooLarge: readonly string[];
}

/**
 * The bodies of a page's messages: one part, or consecutive key ranges where one part would exceed `maxBytes`, or its text the size that ingest inflates.
 *
 * An object that cannot be sent lies in no part's key range: a part that covers its key without it would delete it.
 * `first` is the number of the first part; `to` is "" on the last page.
 */
export function encodeParts(
  list: ListHeader,
  page: readonly Listed[],
  { first, ...ends }: { readonly from: string; readonly to: string; readonly first: number },
  { maxBytes, limits = defaultLimits }: { readonly maxBytes: number; readonly limits?: Limits },
): EncodedPage {
  const bodies: string[] = [];
  const tooLarge: string[] = [];
  const sizes = new Map(page.map((object) => [object, object.entry ? sizeOf(object.entry) : 0]));
  const textBytes = (objects: readonly Listed[]): number => objects.reduce((sum, object) => sum + (sizes.get(object) ?? 0), 0);
  const ranges = sendable(page, ends).reverse();
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    const [only, ...others] = range.objects;
    const alone = only !== undefined && others.length === 0;
    // Before it is encoded: the text of a page of large objects is more than there is memory for.
    const fits = alone || textBytes(range.objects) <= limits.relay.partTextBytes;
    const body = fits ? encode(list, range, first + bodies.length, limits) : undefined;
    if (body !== undefined && body.length <= (alone ? limits.relay.bodyBytes : maxBytes)) {
      bodies.push(body);
    } else if (alone) {
      tooLarge.push(only.key);
      ranges.push(...sendable([{ key: only.key, entry: undefined }], range));
    } else ranges.push(...halves(range).reverse());
  }
  return { bodies, tooLarge };
}

interface Range {
  readonly from: string;
  readonly to: string;
  readonly objects: readonly Listed[];
}

function encode({ header, kind, asOf, listId }: ListHeader, { from, to, objects }: Range, i: number, { queue }: Limits): string {
  const last = to === '' ? { last: true } : {};
  return encodeMessage({ ...header, type: 'list', kind, asOf, listId, i, ...last, from, to, entries: objects.map((o) => o.entry) }, queue);
}

/** The range without the objects that have no entry: each of them ends a range before it and begins the next one behind it. */
function sendable(page: readonly Listed[], { from, to }: { readonly from: string; readonly to: string }): Range[] {
  const ranges: Range[] = [];
  let start = from;
  let objects: Listed[] = [];
  for (const object of page) {
    if (object.entry) {
      objects.push(object);
      continue;
    }
    const end = objects.at(-1);
    if (end) ranges.push({ from: start, to: end.key, objects });
    start = object.key;
    objects = [];
  }
  if (objects.length > 0 || to === '' || start !== to) ranges.push({ from: start, to, objects });
  return ranges;
}

function halves({ from, to, objects }: Range): Range[] {
  const half = objects.length >> 1;
  const middle = objects[half - 1]?.key ?? from;
  return [
    { from, to: middle, objects: objects.slice(0, half) },
    { from: middle, to, objects: objects.slice(half) },
  ];
}
