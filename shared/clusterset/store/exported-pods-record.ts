/**
 * The Service and pods of an export as text (shared/clusterset/exports/exported-pods.ts), as the export's last run
 * has read them. Every importer reads this item in place of the source's namespace. It belongs to the
 * snapshot of the exporting cluster, so a rebuild deletes it.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { exportedPodsKey, type ServiceKey } from '#shared/store/keys.ts';
import { type Item, numberOf, type Table } from '#shared/store/table.ts';

export interface StoredExportedPods {
  /** The incarnation of the exporting cluster when the run began. */
  readonly incarnation: number;
  /** Undefined: the pods are too large to be saved. */
  readonly deflated: Uint8Array | undefined;
  /** Counts the changes, for the condition of the next one. */
  readonly revision: number;
}

export interface ToSave extends Pick<StoredExportedPods, 'incarnation'> {
  readonly text: string | undefined;
  /** The item as the run read it, before it read the records of `text`. */
  readonly before: StoredExportedPods | undefined;
  /** Maximum size of the deflated text, bytes. */
  readonly maxBytes: number;
}

export async function readExportedPods(
  table: Table,
  service: ServiceKey,
): Promise<StoredExportedPods | undefined> {
  const item = await table.get(exportedPodsKey(service));
  return item && decodeExportedPods(item);
}

function decodeExportedPods(item: Item): StoredExportedPods {
  const deflated = item[content];
  return {
    incarnation: numberOf(item, incarnationOf),
    deflated: deflated instanceof Uint8Array ? deflated : undefined,
    revision: numberOf(item, revisionOf),
  };
}

export const textOf = ({ deflated }: StoredExportedPods): string | undefined =>
  deflated && inflateRawSync(deflated).toString();

/** `overtaken`: another run has saved newer pods. */
export type SavedPods = { readonly isWhole: boolean; readonly isChanged: boolean } | 'overtaken';

/**
 * Only the export run calls this, under its lease. An unchanged text costs no write. A text that is too large
 * is saved as one without pods.
 */
export async function saveExportedPods(
  table: Table,
  service: ServiceKey,
  { text, incarnation, before, maxBytes }: ToSave,
): Promise<SavedPods> {
  const whole = text === undefined ? undefined : deflateRawSync(text);
  const deflated = whole && whole.byteLength <= maxBytes ? whole : undefined;
  const isWhole = deflated !== undefined;
  if (before?.incarnation === incarnation && sameBytes(before.deflated, deflated))
    return { isWhole, isChanged: false };
  const item = {
    ...exportedPodsKey(service),
    [incarnationOf]: incarnation,
    [revisionOf]: (before?.revision ?? 0) + 1,
    ...(deflated && { [content]: deflated }),
  };
  const isWritten = await table.put(
    item,
    before ? { attribute: revisionOf, is: '=', value: before.revision } : { absent: revisionOf },
  );
  return isWritten ? { isWhole, isChanged: true } : 'overtaken';
}

export const forgetExportedPods = async (table: Table, service: ServiceKey): Promise<void> =>
  void (await table.delete(exportedPodsKey(service)));

const incarnationOf = 'i';
const revisionOf = 'r';
const content = 'b';

const sameBytes = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a && b ? Buffer.compare(a, b) === 0 : a === b;
