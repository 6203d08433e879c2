/**
 * The state of a cluster as a source of other clusters' imports (docs/use/clusterset.md). Sweep decides once a
 * minute if it is still fresh. Ingest decides by heartbeats if it is fresh again. An absent record means that
 * the source is fresh and its importers are woken.
 */

import type { ClusterState } from '#shared/clusters/record.ts';
import type { SourceState } from '#shared/clusterset/imports/source-state.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';

export interface SourceRecord {
  readonly state: SourceState;
  /** Start of the state, ms since the epoch. */
  readonly sinceMs: number;
  /**
   * The source is silent but its API answers the hub, and sweep lists its pods each minute. The snapshot
   * counts.
   */
  readonly answers?: true;
  /**
   * Importers with a higher id are still to be woken for the change of state. Undefined: all importers are
   * woken.
   */
  readonly wokenUpTo?: string;
}

const attribute = 'source';

/**
 * The order of fields matters, because conditions compare the text. Only the function that has read the
 * current text may change it.
 */
export const encodeSource = ({ state, sinceMs, answers, wokenUpTo }: SourceRecord): string =>
  JSON.stringify({ state, since: sinceMs, answers, wokenUpTo });

/** Returns the state of a cluster as a source. Undefined if it is fresh or does not export. */
export function sourceOf({ source: text }: Pick<ClusterState, 'source'>): SourceRecord | undefined {
  if (text === undefined) return undefined;
  const { since, state, answers, wokenUpTo } = JSON.parse(text) as Omit<SourceRecord, 'sinceMs'> & {
    readonly since: number;
  };
  return {
    state,
    sinceMs: since,
    ...(answers && { answers }),
    ...(wokenUpTo !== undefined && { wokenUpTo }),
  };
}

/** Resolves to false if the record has changed since it was read. */
export async function saveSource(
  table: Table,
  { id, source: before }: Pick<ClusterState, 'id' | 'source'>,
  next: SourceRecord | undefined,
): Promise<boolean> {
  const change = next ? { set: { [attribute]: encodeSource(next) } } : { remove: [attribute] };
  const isAsRead =
    before === undefined ? { absent: attribute } : ({ attribute, is: '=', value: before } as const);
  return (await table.update(metaKey(id), change, { all: [{ present: 'inc' }, isAsRead] })) !== undefined;
}
