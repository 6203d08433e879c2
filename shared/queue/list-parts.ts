/** Cuts a page of a list into message bodies. Each body covers a key range completely. */
import { defaultLimits, type Limits } from '#shared/contract/limits.ts';
import { usualMessageBytes } from '#shared/contract/sqs-limits.ts';
import type { Kind } from '#shared/kube/types.ts';
import { encodeMessage } from './codec.ts';
import { sizeOf } from './message-size.ts';
import type { Entry, EventsHeader } from './messages.ts';

/** Fields that all pages of one list share. */
export interface ListHeader {
  readonly header: EventsHeader;
  readonly kind: Kind;
  readonly asOf: string;
  readonly listId: string;
}

/** An object of a page. Without an entry it exists but cannot be sent. */
export interface ListedObject {
  readonly key: string;
  readonly entry: Entry | undefined;
}

/** The message bodies of a page, and the keys of the objects that are too large for any of them. */
export interface EncodedPage {
  readonly bodies: readonly string[];
  readonly tooLarge: readonly string[];
}

/**
 * The bodies of a page's messages: one part, or consecutive key ranges where one part would exceed
 * `partBytes`, or its text `partTextBytes`.
 *
 * A part names the objects of its key range that cannot be sent: without their names it would delete them.
 * `first` is the number of the first part; `to` is "" on the last page.
 */
export function encodeParts(
  list: ListHeader,
  page: readonly ListedObject[],
  { first, ...ends }: { readonly from: string; readonly to: string; readonly first: number },
  limits: Limits = defaultLimits,
): EncodedPage {
  const bodies: string[] = [];
  const tooLarge: string[] = [];
  const textBytes = textBytesOf(page);
  const ranges: Range[] = [{ ...ends, objects: page }];
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    const only = onlyEntryOf(range);
    const { partBytes, partTextBytes } = only ? limitsOfOne : limits.relay;
    // Before it is encoded: the text of a page of large objects is more than there is memory for.
    const fits = textBytes(range.objects) <= partTextBytes;
    const body = fits ? encode(list, range, first + bodies.length, limits) : undefined;
    if (isWithin(body, partBytes)) {
      bodies.push(body);
    } else if (only) {
      tooLarge.push(only.key);
      ranges.push({ ...range, objects: [{ key: only.key, entry: undefined }] });
    } else ranges.push(...halves(range).reverse());
  }
  return { bodies, tooLarge };
}

const limitsOfOne = { partBytes: usualMessageBytes, partTextBytes: Number.POSITIVE_INFINITY };

const isWithin = (body: string | undefined, maxBytes: number): body is string =>
  body !== undefined && body.length <= maxBytes;

/** Measures each object of the page once. */
function textBytesOf(page: readonly ListedObject[]): (objects: readonly ListedObject[]) => number {
  const sizes = new Map(
    page.map((object) => [object, object.entry ? sizeOf(object.entry) : object.key.length]),
  );
  return (objects) => objects.reduce((sum, object) => sum + (sizes.get(object) ?? 0), 0);
}

/** Returns the object of a range with no other, if it can be sent. */
function onlyEntryOf({ objects: [only, ...others] }: Range): ListedObject | undefined {
  return only?.entry !== undefined && others.length === 0 ? only : undefined;
}

interface Range {
  readonly from: string;
  readonly to: string;
  readonly objects: readonly ListedObject[];
}

function encode(
  { header, ...list }: ListHeader,
  { from, to, objects }: Range,
  partNumber: number,
  { queue }: Limits,
): string {
  const isLast = to === '' && { isLast: true };
  const omitted = objects.flatMap(({ key, entry }) => (entry ? [] : [key]));
  const entries = objects.flatMap(({ entry }) => entry ?? []);
  return encodeMessage(
    {
      ...header,
      type: 'list',
      ...list,
      partNumber,
      ...isLast,
      from,
      to,
      entries,
      ...(omitted.length > 0 && { omitted }),
    },
    queue,
  );
}

function halves({ from, to, objects }: Range): Range[] {
  const half = objects.length >> 1;
  const middle = objects[half - 1]?.key ?? from;
  return [
    { from, to: middle, objects: objects.slice(0, half) },
    { from: middle, to, objects: objects.slice(half) },
  ];
}
