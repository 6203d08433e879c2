/**
 * How a cluster stands as a source of the others' imports (docs/clusterset.md). Sweep decides once a minute when it is fresh no more, ingest by the
 * heartbeats when it is so again. Absent: it is fresh, and nothing is owed.
 */
import type { SourceState } from '#shared/clusterset/source-state.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';

export interface SourceRecord {
  readonly state: SourceState;
  /** Since when, ms since the epoch. */
  readonly sinceMs: number;
  /** Its API answers the hub, and sweep lists its pods each minute. While it is silent, the snapshot counts. */
  readonly answers?: true;
  /** Importers are to be woken for the change of state, in the order of their ids: those after this one. Undefined: all of them are woken. */
  readonly wokenUpTo?: string;
  /** As it was read: another version may have written more than is known here. */
  readonly text?: string;
}

const attribute = 'source';

/** In this order: the text is compared, so that of sweep and ingest the one changes it that has read it. */
const encode = ({ state, sinceMs, answers, wokenUpTo }: SourceRecord): string => JSON.stringify({ state, since: sinceMs, answers, wokenUpTo });
const textOf = (source: SourceRecord): string => source.text ?? encode(source);

export function decodeSource(item: Item): SourceRecord | undefined {
  const text = item[attribute];
  if (typeof text !== 'string') return undefined;
  const { since, state, answers, wokenUpTo } = JSON.parse(text) as Omit<SourceRecord, 'sinceMs'> & { readonly since: number };
  return { state, sinceMs: since, ...(answers && { answers }), ...(wokenUpTo !== undefined && { wokenUpTo }), text };
}

interface Member {
  readonly id: string;
  readonly source: SourceRecord | undefined;
}

/** False: it is not as it was read. */
export async function saveSource(table: Table, { id, source: before }: Member, next: SourceRecord | undefined): Promise<boolean> {
  const change = next ? { set: { [attribute]: encode(next) } } : { remove: [attribute] };
  const isAsRead = before ? ({ attribute, is: '=', value: textOf(before) } as const) : { absent: attribute };
  return (await table.update(metaKey(id), change, { all: [{ present: 'inc' }, isAsRead] })) !== undefined;
}
