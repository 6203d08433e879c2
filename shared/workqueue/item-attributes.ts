/** The attributes of a work item. With item-store.ts, only this file uses their names. Pure. */
import { type Part, partsOf, type WorkKind } from '#shared/kube/work-kinds.ts';
import { itemSize } from '#shared/store/item-size.ts';
import type { Item, Value } from '#shared/store/table.ts';
import type { PartState, PartStates, WorkItem } from './rules/item.ts';

/** Attributes of a part begin with its code. */
const codes = { endpoints: 'ep', slices: 'sl', export: 'ex', import: 'im' } as const satisfies {
  readonly [P in Part]: string;
};
const attributesOf = {
  doneGeneration: 'done',
  failures: 'tries',
  retryNumber: 'seq',
  retryGeneration: 'rg',
  retryDueMs: 'at',
} as const satisfies { readonly [F in keyof PartState]: string };
/** Attributes with the newest generation that has the mark. */
export const marks = { apiReadGeneration: 'live', lookOnlyGeneration: 'look' } as const satisfies {
  readonly [F in keyof WorkItem]?: string;
};
const fields = Object.keys(attributesOf) as (keyof PartState)[];
export const attribute = (part: Part, field: keyof PartState): string =>
  `${codes[part]}_${attributesOf[field]}`;

/** Attributes that a run may replace. Undefined keeps them. */
export interface RunSaves {
  /** New text of trigger times. Null removes it from the item. */
  readonly triggers?: string | null | undefined;
  /** New attribute of the outputs' deltas. Null removes it. */
  readonly deltas?: Uint8Array | null | undefined;
  /** Id of the newest record of the history, which the worker writes once the lease is released. */
  readonly newestRecord?: number | undefined;
}

/** The recorded end of a run. */
export interface RunRecord extends RunSaves {
  readonly leaseId: string;
  readonly generation: number;
  /** The parts' states at the claim, and the changed states. */
  readonly before: PartStates;
  readonly after: PartStates;
  readonly nowMs: number;
}

export function changeOf({ before, after, triggers, deltas, newestRecord, nowMs }: RunRecord): {
  readonly set: { readonly [attribute: string]: Value };
  readonly remove: readonly string[];
} {
  const saves = Object.entries({ tt: triggers, d: deltas, h: newestRecord });
  const kept = saves.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, value]],
  );
  return {
    set: { ranAt: nowMs, ...changedStates(before, after), ...Object.fromEntries(kept) },
    remove: saves.flatMap(([name, value]) => (value === null ? [name] : [])),
  };
}

function changedStates(before: PartStates, after: PartStates): { readonly [attribute: string]: number } {
  const set: { [attribute: string]: number } = {};
  for (const [part, state] of Object.entries(after) as [Part, PartState][])
    for (const field of fields)
      if (state[field] !== before[part]?.[field]) set[attribute(part, field)] = state[field];
  return set;
}

/** With the names of trigger times and deltas, and without their values. */
const sizeOf = (item: Item): number => itemSize({ ...item, tt: '', d: '' });

export function decodeWork(kind: WorkKind, item: Item | undefined): WorkItem {
  const number = (name: string): number => (typeof item?.[name] === 'number' ? item[name] : 0);
  const state = (part: Part): PartState =>
    Object.fromEntries(fields.map((field) => [field, number(attribute(part, field))])) as {
      [F in keyof PartState]: number;
    };
  const id = item?.['lease'] as string | undefined;
  return {
    kind,
    generation: number('gen'),
    apiReadGeneration: number(marks.apiReadGeneration),
    lookOnlyGeneration: number(marks.lookOnlyGeneration),
    lease: id === undefined ? undefined : { id, untilMs: number('until') },
    dirtyAtMs: item?.['dirtyAt'] as number | undefined,
    ranAtMs: number('ranAt'),
    parts: Object.fromEntries(partsOf[kind].map((part) => [part, state(part)])),
    triggers: item?.['tt'] as string | undefined,
    deltas: item?.['d'] as Uint8Array | undefined,
    bytes: item ? sizeOf(item) : 0,
    newestRecord: item?.['h'] as number | undefined,
  };
}
