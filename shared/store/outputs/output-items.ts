/** The item of an output: its body, which is the deflated object (docs/develop/decisions/0018). Pure. */
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ObservedSoFar } from '#shared/kube/listed-endpoints.ts';
import { labelEndpointsManagedBy, labelServiceName, labelSliceManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints, OutputKind } from '#shared/kube/types.ts';
import { itemSize } from '../item-size.ts';
import { endpointsOutput, sliceOutput } from '../keys.ts';
import { type Item, type Key, numberOf, textIn } from '../table.ts';
import { noVersion, type Version } from '../version.ts';
import { edited, type TextEdit } from './text-edit.ts';

export type OutputObject = Endpoints | EndpointSlice;

export interface OutputRecord {
  readonly kind: OutputKind;
  readonly name: string;
  readonly uid: string;
  readonly version: Version;
  /** metadata.generation, or 0 for Endpoints. */
  readonly generation: number;
  /** Undefined if the output is deleted, by our delete or by an uncached read. */
  readonly object: OutputObject | undefined;
  /**
   * The content of the output is not saved: it is too large, or a worker without the lease has saved an older
   * body. `object` has the metadata that shows its owner. A run reads it from the API server.
   */
  readonly isMetadataOnly?: true;
  /** What is known of the records of its states, if other clients write it (history/observed-record.ts). */
  readonly observed?: ObservedSoFar;
}

/** A stored body, the base of a delta. */
export interface SavedBody {
  readonly version: Version;
  readonly uid: string;
  /** Undefined if the output is deleted, or if its content is too large to be saved. */
  readonly text: string | undefined;
  /** Size of the item, bytes. */
  readonly bytes: number;
}

/** The difference between an output and its body. */
export interface OutputDelta {
  readonly version: Version;
  /** Checksum of the body that it changes. */
  readonly of: number;
  /** metadata.generation, or 0 for Endpoints. */
  readonly generation: number;
  readonly edit: TextEdit;
}

/** Bodies by the sort key of their items. */
export type SavedBodies = ReadonlyMap<string, SavedBody>;

export interface OutputName {
  readonly kind: OutputKind;
  readonly name: string;
}

export const sortKeyOf = ({ kind, name }: OutputName): string =>
  kind === 'Endpoints' ? endpointsOutput : sliceOutput(name);

/**
 * Maximum size of a deflated object that fits into an item of DynamoDB (400 KB) with its key and its other
 * attributes, bytes.
 */
export const maxSavedBytes = 384 * 1024;

/** Returns the item of a body. If the deflated object exceeds `maxBytes`, the item has only its metadata. */
export function bodyItem(
  key: Key,
  { version, uid, name, generation, object, observed }: OutputRecord,
  maxBytes: number,
): Item {
  return {
    ...key,
    v: version,
    uid,
    name,
    ...(generation > 0 && { g: generation }),
    ...(observed && { h: `${observed.sinceWhole} ${observed.wholeAtMs} ${observed.sinceMs}` }),
    ...contentOf(object, maxBytes),
  };
}

function contentOf(
  object: OutputObject | undefined,
  maxBytes: number,
): { readonly b?: Uint8Array; readonly m?: string } {
  if (!object) return {};
  const deflated = deflateRawSync(JSON.stringify(object));
  return deflated.byteLength <= maxBytes ? { b: deflated } : { m: JSON.stringify(metadataOnly(object)) };
}

/** Returns the labels and owners that identify the owner of an output. */
function metadataOnly({ metadata }: OutputObject): OutputObject {
  const { name, namespace, uid, resourceVersion, ownerReferences } = metadata;
  const labels = Object.fromEntries(
    Object.entries(metadata.labels ?? {}).filter(([label]) => ownershipLabels.includes(label)),
  );
  return {
    metadata: { name, namespace, uid, resourceVersion, labels, ...(ownerReferences && { ownerReferences }) },
  } as Endpoints;
}

const ownershipLabels: readonly string[] = [labelServiceName, labelSliceManagedBy, labelEndpointsManagedBy];

export function savedBodyOf(item: Item): SavedBody {
  const { uid, version } = headOf(item);
  const body = item['b'] as Uint8Array | undefined;
  return { uid, version, text: body && inflateRawSync(body).toString(), bytes: itemSize(item) };
}

/**
 * Names the text of a body in its deltas. Its version would not do: in a cluster that was restored, the same
 * version may have another text.
 */
export const checksumOf = (text: string): number => crc32(text);

/** `body` is the decoded body of `item`. */
export function decodeOutput(item: Item, body: SavedBody, delta: OutputDelta | undefined): OutputRecord {
  const kind = kindOfOutputItem(item.sk);
  const metadata = textIn(item, 'm');
  const newer = delta && delta.version > body.version && isThere(item) ? delta : undefined;
  const saved = { ...headOf(item), kind, generation: numberOf(item, 'g') };
  const object = (JSON.parse(body.text ?? metadata ?? 'null') as OutputObject | null) ?? undefined;
  // A worker that has not ended its run has put another body in the place of the delta's.
  const isLost = newer !== undefined && (body.text === undefined || newer.of !== checksumOf(body.text));
  if (metadata !== undefined || isLost)
    return { ...saved, object: object && metadataOnly(object), isMetadataOnly: true };
  if (!newer) return { ...saved, object, ...observedIn(item) };
  const now = JSON.parse(edited(body.text as string, newer.edit)) as OutputObject;
  return { ...saved, version: newer.version, generation: newer.generation, object: now };
}

export const headOf = (item: Item): Pick<OutputRecord, 'name' | 'uid' | 'version'> => ({
  name: item['name'] as string,
  uid: (item['uid'] as string | undefined) ?? '',
  version: versionOf(item),
});

/** Returns true if the output exists. `item` is its body. */
export const isThere = (item: Item): boolean => item['b'] !== undefined || item['m'] !== undefined;

/** Returns the kind by the sort key of a body. */
export const kindOfOutputItem = (sk: string): OutputKind =>
  sk === endpointsOutput ? 'Endpoints' : 'EndpointSlice';

function observedIn({ h }: Item): Pick<OutputRecord, 'observed'> {
  if (typeof h !== 'string') return {};
  const [sinceWhole = 0, wholeAtMs = 0, sinceMs = 0] = h.split(' ').map(Number);
  return { observed: { sinceWhole, wholeAtMs, sinceMs } };
}

const versionOf = (item: Item): Version => (item['v'] as Version | undefined) ?? noVersion;
