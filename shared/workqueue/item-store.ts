/**
 * The work item of a service: one lease, two parts. "Never two syncs of the same key at once" (upstream's contract) is
 * `claim` here: a conditional write that only one worker can win until the lease has run out.
 */

import { type ServiceKey, workKey } from '#shared/store/keys.ts';
import type { Condition, Item, Table, Value } from '#shared/store/table.ts';
import { noWork, type PartState, type WorkItem, type WorkPart, workParts } from './rules/item.ts';

const key = (s: ServiceKey) => workKey(s.cluster, s.namespace, s.name);

export async function readWork(table: Table, service: ServiceKey): Promise<WorkItem> {
  return decodeWork(await table.get(key(service)));
}

/** Owes the service a run that covers the generation of the record that comes back. */
export async function raise(table: Table, service: ServiceKey, now: number): Promise<WorkItem> {
  const item = await table.update(key(service), { add: { gen: 1 }, setIfAbsent: { dirtyAt: now, dirtyIn: service.cluster } });
  return decodeWork(item);
}

/** As `raise`, and the run is to read its outputs from the cluster. One write: a run in between would swallow the wish. */
export async function raiseLive(table: Table, service: ServiceKey, now: number): Promise<WorkItem> {
  for (;;) {
    const { gen } = await readWork(table, service);
    const item = await table.update(
      key(service),
      { set: { gen: gen + 1, live: gen + 1 }, setIfAbsent: { dirtyAt: now, dirtyIn: service.cluster } },
      gen === 0 ? { absent: 'gen' } : { attribute: 'gen', is: '=', value: gen },
    );
    if (item) return decodeWork(item);
  }
}

/**
 * Takes the lease if nobody holds it and one of the parts is not done. The record as it is now (its `gen` is what this run covers)
 * and whether an expired lease was taken over; undefined when somebody else was faster.
 */
export async function claim(
  table: Table,
  service: ServiceKey,
  read: WorkItem,
  parts: readonly WorkPart[],
  lease: { readonly id: string; readonly now: number; readonly until: number },
): Promise<{ readonly work: WorkItem; readonly takenOver: boolean } | undefined> {
  const free: Condition = read.lease
    ? {
        all: [
          { attribute: 'lease', is: '=', value: read.lease.id },
          { attribute: 'until', is: '<=', value: lease.now },
        ],
      }
    : { absent: 'lease' };
  const owed: Condition = {
    any: parts.flatMap((p): Condition[] => [{ absent: `${p}_done` }, { attribute: `${p}_done`, is: '<', value: read.gen }]),
  };
  const change = { set: { lease: lease.id, until: lease.until, runOf: lease.id }, setFrom: { run: 'gen' } };
  const item = await table.update(key(service), change, { all: [free, owed] });
  return item && { work: decodeWork(item), takenOver: read.lease !== undefined };
}

/** Is the lease still ours? Asked before anything is saved: what is saved explains the echo of a write, and a late worker's must be found. */
export async function prove(table: Table, service: ServiceKey, leaseId: string): Promise<WorkItem | undefined> {
  const work = await readWork(table, service);
  return work.lease?.id === leaseId ? work : undefined;
}

const leaseAttributes = ['lease', 'until', 'run', 'runOf'];

export interface Settlement {
  readonly leaseId: string;
  readonly captured: number;
  /** The parts as they were claimed, and those that are different now. */
  readonly before: { readonly [P in WorkPart]: PartState };
  readonly parts: { readonly [P in WorkPart]?: PartState };
  /** New trigger-time text; null: none on this item; undefined: as it is. */
  readonly triggers?: string | null | undefined;
  readonly now: number;
}

/**
 * The last update of a clean run: frees the lease and takes the work off the dirty index, if no generation has come in since the claim. False
 * when one has, or when the lease is not ours any more: then nothing was set.
 */
export async function settleClean(table: Table, service: ServiceKey, settlement: Settlement): Promise<boolean> {
  const { set, remove = [] } = changeOf(settlement);
  const item = await table.update(
    key(service),
    { set, remove: [...remove, ...leaseAttributes, 'dirtyAt', 'dirtyIn'] },
    {
      all: [
        { attribute: 'lease', is: '=', value: settlement.leaseId },
        { attribute: 'gen', is: '=', value: settlement.captured },
      ],
    },
  );
  return item !== undefined;
}

/**
 * The last update of a run after which something is still owed, be it to a generation that has come in since. The record as it is now;
 * undefined when the lease is not ours any more.
 */
export async function settle(table: Table, service: ServiceKey, settlement: Settlement): Promise<WorkItem | undefined> {
  const { set, remove = [] } = changeOf(settlement);
  const item = await table.update(
    key(service),
    { set: { ...set, dirtyAt: settlement.now, dirtyIn: service.cluster }, remove: [...remove, ...leaseAttributes] },
    { attribute: 'lease', is: '=', value: settlement.leaseId },
  );
  return item && decodeWork(item);
}

/**
 * The generation has moved while the run was under way: records it and goes on under the same lease, which is a new claim for
 * the generation that comes back. Undefined when the lease is not ours any more.
 */
export async function settleAndRenew(table: Table, service: ServiceKey, settlement: Settlement, until: number): Promise<WorkItem | undefined> {
  const change = changeOf(settlement);
  const item = await table.update(
    key(service),
    { ...change, set: { ...change.set, until }, setFrom: { run: 'gen' } },
    { attribute: 'lease', is: '=', value: settlement.leaseId },
  );
  return item && decodeWork(item);
}

function changeOf({ before, parts, triggers, now }: Settlement): {
  readonly set: { [attribute: string]: Value };
  readonly remove?: readonly string[];
} {
  const set: { [attribute: string]: Value } = { ranAt: now };
  for (const p of workParts) {
    const state = parts[p];
    if (!state) continue;
    for (const field of Object.keys(state) as (keyof PartState)[]) if (state[field] !== before[p][field]) set[`${p}_${field}`] = state[field];
  }
  if (typeof triggers === 'string') set['tt'] = triggers;
  return triggers === null ? { set, remove: ['tt'] } : { set };
}

export function decodeWork(item: Item | undefined): WorkItem {
  if (!item) return noWork;
  const number = (attribute: string): number => (item[attribute] as number | undefined) ?? 0;
  const part = (p: WorkPart): PartState => ({
    done: number(`${p}_done`),
    tries: number(`${p}_tries`),
    seq: number(`${p}_seq`),
    rg: number(`${p}_rg`),
    at: number(`${p}_at`),
  });
  const id = item['lease'] as string | undefined;
  // A worker of the version before claims without setting it: what is there then is a former holder's.
  const covers = item['runOf'] === id ? (item['run'] as number | undefined) : undefined;
  return {
    gen: number('gen'),
    live: number('live'),
    lease: id === undefined ? undefined : { id, until: number('until'), covers },
    dirtyAt: item['dirtyAt'] as number | undefined,
    ranAt: number('ranAt'),
    parts: { ep: part('ep'), sl: part('sl') },
    triggers: item['tt'] as string | undefined,
  };
}
