/**
 * A second controller keeps writing objects under our managed-by values. Foreign writes are counted in a window of time; when there are too many,
 * nothing more is written to the cluster until an operator has switched its mode, which forgets the conflict and the count.
 */
import { metaKey } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';
import type { CircuitReason } from './circuit.ts';
import { type ClusterSwitch, isSwitch, isWrittenTo } from './mode.ts';

const attributes = { count: 'foreignCount', since: 'foreignSince', conflict: 'conflict' } as const;

/** A switch of mode forgets them. */
export const writerConflictAttributes = Object.values(attributes);

export const decodeWriterConflict = (item: Item): boolean => item[attributes.conflict] !== undefined;

/** Resolves to the number of foreign writes in the present window. */
export async function countForeignWrites(
  table: Table,
  { id, modeSwitch }: ClusterSwitch,
  writes: number,
  { nowMs, windowMs }: { readonly nowMs: number; readonly windowMs: number },
): Promise<number> {
  const { count, since } = attributes;
  const begin = nowMs - windowMs;
  const item =
    (await table.update(metaKey(id), { add: { [count]: writes } }, { all: [isSwitch(modeSwitch), { attribute: since, is: '>', value: begin }] })) ??
    (await table.update(
      metaKey(id),
      { set: { [count]: writes, [since]: nowMs } },
      { all: [isSwitch(modeSwitch), { any: [{ absent: since }, { attribute: since, is: '<=', value: begin }] }] },
    ));
  return (item?.[count] as number | undefined) ?? 0;
}

/** As `cluster list`, explain and the console show it. */
const shownAs = 'two-writers';

/** False: it is recorded already, or an operator has switched the mode since, which a late worker must not undo. */
export async function recordWriterConflict(table: Table, { id, modeSwitch }: ClusterSwitch, nowMs: number): Promise<boolean> {
  const change = { set: { [attributes.conflict]: nowMs } };
  return (await table.update(metaKey(id), change, { all: [isSwitch(modeSwitch), isWrittenTo, { absent: attributes.conflict }] })) !== undefined;
}

/** Why no run writes to an active cluster now, as people are shown it; undefined if runs do. */
export const blockedBy = ({
  writerConflict,
  circuit,
}: {
  readonly writerConflict: boolean;
  readonly circuit: { readonly reason: CircuitReason } | undefined;
}): CircuitReason | typeof shownAs | undefined => (writerConflict ? shownAs : circuit?.reason);
