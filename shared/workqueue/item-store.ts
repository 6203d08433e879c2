/**
 * The work item in the table: one lease for both controllers of a service. "Never two syncs of the same key at once" (upstream's contract) is `claim`
 * here: a conditional write that only one worker can win until the lease has run out. No other file knows the names of the attributes.
 */
import { type Controller, controllers } from '#shared/kube/controllers.ts';
import { dirtyKeyOf } from '#shared/store/dirty-index.ts';
import { type ServiceKey, workKey } from '#shared/store/keys.ts';
import type { Condition, Item, Table, Value } from '#shared/store/table.ts';
import { type ControllerState, type ControllerStates, noWork, type WorkItem } from './rules/item.ts';

const key = (s: ServiceKey) => workKey(s.cluster, s.namespace, s.name);

/** Attributes of a controller begin with its code. */
const codes = { endpoints: 'ep', slices: 'sl' } as const satisfies { readonly [C in Controller]: string };
const attributesOf = {
  doneGeneration: 'done',
  failures: 'tries',
  retryNumber: 'seq',
  retryGeneration: 'rg',
  retryDueMs: 'at',
} as const satisfies { readonly [F in keyof ControllerState]: string };
const fields = Object.keys(attributesOf) as (keyof ControllerState)[];
const attribute = (controller: Controller, field: keyof ControllerState): string => `${codes[controller]}_${attributesOf[field]}`;

export async function readWork(table: Table, service: ServiceKey): Promise<WorkItem> {
  return decodeWork(await table.get(key(service)));
}

/** The service owes a run that covers the generation of the item that comes back. */
export async function addGeneration(table: Table, service: ServiceKey, nowMs: number): Promise<WorkItem> {
  const item = await table.update(key(service), { add: { gen: 1 }, setIfAbsent: dirtySince(service, nowMs) });
  return decodeWork(item);
}

/** As `addGeneration`, and the run is to read its outputs from the API server. One write: a run in between would use up the wish. */
export async function addGenerationForApiRead(table: Table, service: ServiceKey, nowMs: number): Promise<WorkItem> {
  for (;;) {
    const { generation } = await readWork(table, service);
    const item = await table.update(
      key(service),
      { set: { gen: generation + 1, live: generation + 1 }, setIfAbsent: dirtySince(service, nowMs) },
      generation === 0 ? { absent: 'gen' } : { attribute: 'gen', is: '=', value: generation },
    );
    if (item) return decodeWork(item);
  }
}

/**
 * Takes the lease if no worker holds it and one of the controllers is not done. The item as it is now: its generation is what the run covers.
 * Undefined when another worker was faster.
 */
export async function claim(
  table: Table,
  service: ServiceKey,
  read: { readonly item: WorkItem; readonly controllers: readonly Controller[] },
  lease: { readonly id: string; readonly nowMs: number; readonly untilMs: number },
): Promise<WorkItem | undefined> {
  const { lease: former, generation } = read.item;
  const free: Condition = former
    ? {
        all: [
          { attribute: 'lease', is: '=', value: former.id },
          { attribute: 'until', is: '<=', value: lease.nowMs },
        ],
      }
    : { absent: 'lease' };
  const owed: Condition = {
    any: read.controllers.flatMap((c): Condition[] => {
      const done = attribute(c, 'doneGeneration');
      return [{ absent: done }, { attribute: done, is: '<', value: generation }];
    }),
  };
  const change = { set: { lease: lease.id, until: lease.untilMs } };
  const item = await table.update(key(service), change, { all: [free, owed] });
  return item && decodeWork(item);
}

/**
 * As `claim`, without reading the item first, for the usual case: no worker holds the lease, and one of the controllers neither has the generation done nor
 * waits for a retry that covers it. Undefined in every other case, which `claim` is for.
 */
export async function claimUnread(
  table: Table,
  service: ServiceKey,
  generation: number,
  lease: { readonly id: string; readonly untilMs: number },
): Promise<WorkItem | undefined> {
  const isBelow = (name: string): Condition => ({ any: [{ absent: name }, { attribute: name, is: '<', value: generation }] });
  const owed = controllers.map((c): Condition => ({ all: [isBelow(attribute(c, 'doneGeneration')), isBelow(attribute(c, 'retryGeneration'))] }));
  const condition: Condition = { all: [{ absent: 'lease' }, { attribute: 'gen', is: '>=', value: generation }, { any: owed }] };
  const change = { set: { lease: lease.id, until: lease.untilMs } };
  const item = await table.update(key(service), change, condition);
  return item && decodeWork(item);
}

/** The end of a run, as it is recorded. */
export interface RunRecord {
  readonly leaseId: string;
  readonly generation: number;
  /** The controllers' states when they were claimed, and those that are different now. */
  readonly before: ControllerStates;
  readonly after: { readonly [C in Controller]?: ControllerState };
  /** New text of trigger times; null: none on this item; undefined: as it is. */
  readonly triggers: string | null | undefined;
  /** Id of the newest record of its history; undefined: as it is. */
  readonly newestRecord?: number | undefined;
  readonly nowMs: number;
}

const leaseAttributes = ['lease', 'until'];
const dirtyAttributes = ['dirtyAt', 'dirtyIn'];
const dirtySince = (service: ServiceKey, nowMs: number) => ({
  dirtyAt: nowMs,
  dirtyIn: dirtyKeyOf(service.cluster, service.namespace, service.name),
});
const isHeldBy = (leaseId: string): Condition => ({ attribute: 'lease', is: '=', value: leaseId });

/**
 * Nothing more is owed: frees the lease and takes the item off the index of dirty ones, if no generation was added since the claim. False when one
 * was, or when the lease belongs to another worker: then nothing is written.
 */
export async function releaseClean(table: Table, service: ServiceKey, record: RunRecord): Promise<boolean> {
  const { set, remove } = changeOf(record);
  const item = await table.update(
    key(service),
    { set, remove: [...remove, ...leaseAttributes, ...dirtyAttributes] },
    { all: [isHeldBy(record.leaseId), { attribute: 'gen', is: '=', value: record.generation }] },
  );
  return item !== undefined;
}

/** Frees the lease of a service that still owes a run. The item as it is now; undefined when the lease belongs to another worker. */
export async function releaseOwing(table: Table, service: ServiceKey, record: RunRecord): Promise<WorkItem | undefined> {
  const { set, remove } = changeOf(record);
  const change = { set: { ...set, ...dirtySince(service, record.nowMs) }, remove: [...remove, ...leaseAttributes] };
  const item = await table.update(key(service), change, isHeldBy(record.leaseId));
  return item && decodeWork(item);
}

/**
 * A generation was added during the run: the worker goes on under the same lease, which covers the generation of the item that comes back. Undefined
 * when the lease belongs to another worker.
 */
export async function renew(table: Table, service: ServiceKey, record: RunRecord, untilMs: number): Promise<WorkItem | undefined> {
  const change = changeOf(record);
  const item = await table.update(key(service), { ...change, set: { ...change.set, until: untilMs } }, isHeldBy(record.leaseId));
  return item && decodeWork(item);
}

function changeOf({ before, after, triggers, newestRecord, nowMs }: RunRecord): {
  readonly set: { [attribute: string]: Value };
  readonly remove: readonly string[];
} {
  const set: { [attribute: string]: Value } = { ranAt: nowMs };
  for (const c of controllers) {
    const state = after[c];
    if (!state) continue;
    for (const field of fields) if (state[field] !== before[c][field]) set[attribute(c, field)] = state[field];
  }
  if (typeof triggers === 'string') set['tt'] = triggers;
  if (newestRecord !== undefined) set['h'] = newestRecord;
  return { set, remove: triggers === null ? ['tt'] : [] };
}

export function decodeWork(item: Item | undefined): WorkItem {
  if (!item) return noWork;
  const number = (name: string): number => (item[name] as number | undefined) ?? 0;
  const state = (c: Controller): ControllerState =>
    Object.fromEntries(fields.map((field) => [field, number(attribute(c, field))])) as { [F in keyof ControllerState]: number };
  const id = item['lease'] as string | undefined;
  return {
    generation: number('gen'),
    apiReadGeneration: number('live'),
    lease: id === undefined ? undefined : { id, untilMs: number('until') },
    dirtyAtMs: item['dirtyAt'] as number | undefined,
    ranAtMs: number('ranAt'),
    controllers: { endpoints: state('endpoints'), slices: state('slices') },
    triggers: item['tt'] as string | undefined,
    newestRecord: item['h'] as number | undefined,
  };
}
