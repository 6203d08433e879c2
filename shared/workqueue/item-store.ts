/**
 * The work item in the table: one lease for all parts of the work. `claim` implements upstream's contract
 * "never two syncs of the same key at once" by a conditional write, which succeeds for only one worker until
 * the lease expires.
 */
import { type Part, partsOf, workText } from '#shared/kube/work-kinds.ts';
import { dirtyKeyOf } from '#shared/store/dirty-index.ts';
import { type WorkKey, workKey } from '#shared/store/keys.ts';
import type { Table, WriteCondition } from '#shared/store/table.ts';
import { attribute, changeOf, decodeWork, marks, type RunRecord } from './item-attributes.ts';
import type { WorkItem } from './rules/item.ts';

export async function readWork(table: Table, service: WorkKey): Promise<WorkItem> {
  return decodeWork(service.kind, await table.get(workKey(service)));
}

/** Adds a generation. Resolves to the item with the generation that a run must cover. */
export async function addGeneration(table: Table, service: WorkKey, nowMs: number): Promise<WorkItem> {
  const item = await table.update(workKey(service), {
    add: { gen: 1 },
    setIfAbsent: dirtySince(service, nowMs),
  });
  return decodeWork(service.kind, item);
}

/**
 * Like `addGeneration`, with a mark for its run. This is one write, because a run between two writes would
 * use up the mark.
 */
export async function addMarkedGeneration(
  table: Table,
  service: WorkKey,
  mark: keyof typeof marks,
  nowMs: number,
): Promise<WorkItem> {
  for (let tries = 0; tries < maxTries; tries++) {
    const { generation } = await readWork(table, service);
    const item = await table.update(
      workKey(service),
      {
        set: { gen: generation + 1, [marks[mark]]: generation + 1 },
        setIfAbsent: dirtySince(service, nowMs),
      },
      generation === 0 ? { absent: 'gen' } : { attribute: 'gen', is: '=', value: generation },
    );
    if (item) return decodeWork(service.kind, item);
  }
  throw new Error(
    `the work item of ${service.cluster} ${workText(service)} refuses a new generation: its attribute is damaged`,
  );
}

/** Pending work whose wake-up waits until then becomes overdue only after it. */
export async function postpone(table: Table, service: WorkKey, untilMs: number): Promise<void> {
  await table.update(workKey(service), { set: dirtySince(service, untilMs) }, { present: 'dirtyAt' });
}

/**
 * Other callers win some conditional writes. More than this number fail only if none can succeed, as with an
 * attribute of another type.
 */
export const maxTries = 20;

/**
 * Takes the lease if it is free or expired and one of the parts is not done. Resolves to the current item,
 * whose generation the run covers, or to undefined if another worker was faster.
 */
export async function claim(
  table: Table,
  service: WorkKey,
  read: { readonly item: WorkItem; readonly parts: readonly Part[] },
  lease: { readonly id: string; readonly nowMs: number; readonly untilMs: number },
): Promise<WorkItem | undefined> {
  const { lease: former, generation } = read.item;
  const free: WriteCondition = former
    ? {
        all: [
          { attribute: 'lease', is: '=', value: former.id },
          { attribute: 'until', is: '<=', value: lease.nowMs },
        ],
      }
    : { absent: 'lease' };
  const dirty: WriteCondition = {
    any: read.parts.flatMap((part): WriteCondition[] => {
      const done = attribute(part, 'doneGeneration');
      return [{ absent: done }, { attribute: done, is: '<', value: generation }];
    }),
  };
  const change = { set: { lease: lease.id, until: lease.untilMs } };
  const item = await table.update(workKey(service), change, { all: [free, dirty] });
  return item && decodeWork(service.kind, item);
}

/**
 * Adds a generation and takes the lease in one write, if every part has done the newest generation and nobody
 * has the lease. Resolves to undefined, without a write, in any other case.
 */
export async function addAndClaim(
  table: Table,
  service: WorkKey,
  lease: { readonly id: string; readonly untilMs: number },
): Promise<WorkItem | undefined> {
  const isClean: WriteCondition = {
    all: partsOf[service.kind].map((part) => ({
      attribute: attribute(part, 'doneGeneration'),
      is: '>=',
      than: 'gen',
    })),
  };
  const change = { add: { gen: 1 }, set: { lease: lease.id, until: lease.untilMs } };
  const condition: WriteCondition = { all: [{ absent: 'lease' }, { any: [{ absent: 'gen' }, isClean] }] };
  const item = await table.update(workKey(service), change, condition);
  return item && decodeWork(service.kind, item);
}

const leaseAttributes = ['lease', 'until'];
const dirtyAttributes = ['dirtyAt', 'dirtyIn'];
const dirtySince = (service: WorkKey, nowMs: number) => ({
  dirtyAt: nowMs,
  dirtyIn: dirtyKeyOf(service.cluster, service.namespace, service.name),
});
const isHeldBy = (leaseId: string): WriteCondition => ({ attribute: 'lease', is: '=', value: leaseId });

/**
 * Releases the lease and removes the item from the dirty index. Resolves to false, without a write, if a
 * generation was added since the claim, or if the lease belongs to another worker.
 */
export async function releaseClean(table: Table, service: WorkKey, record: RunRecord): Promise<boolean> {
  const { set, remove } = changeOf(record);
  const item = await table.update(
    workKey(service),
    { set, remove: [...remove, ...leaseAttributes, ...dirtyAttributes] },
    { all: [isHeldBy(record.leaseId), { attribute: 'gen', is: '=', value: record.generation }] },
  );
  return item !== undefined;
}

/**
 * Releases the lease of a service with pending work. Resolves to the current item, or to undefined if the
 * lease belongs to another worker.
 */
export async function releaseOwing(
  table: Table,
  service: WorkKey,
  record: RunRecord,
): Promise<WorkItem | undefined> {
  const { set, remove } = changeOf(record);
  const change = {
    set: { ...set, ...dirtySince(service, record.nowMs) },
    remove: [...remove, ...leaseAttributes],
  };
  const item = await table.update(workKey(service), change, isHeldBy(record.leaseId));
  return item && decodeWork(service.kind, item);
}

/**
 * Extends the lease for a generation that was added during the run. Resolves to the item with the generation
 * that the next run covers, or to undefined if the lease belongs to another worker.
 */
export async function renew(
  table: Table,
  service: WorkKey,
  record: RunRecord,
  untilMs: number,
): Promise<WorkItem | undefined> {
  const change = changeOf(record);
  const item = await table.update(
    workKey(service),
    { ...change, set: { ...change.set, until: untilMs } },
    isHeldBy(record.leaseId),
  );
  return item && decodeWork(service.kind, item);
}

/**
 * Brings the end of the lease forward, and puts pending work into the index of overdue work, where work that was
 * taken as it was added is not yet. Resolves to the current item, or to undefined if the lease belongs to another
 * worker or is released.
 */
export async function expireLease(
  table: Table,
  service: WorkKey,
  leaseId: string,
  nowMs: number,
): Promise<WorkItem | undefined> {
  const change = { set: { until: nowMs }, setIfAbsent: dirtySince(service, nowMs) };
  const item = await table.update(workKey(service), change, isHeldBy(leaseId));
  return item && decodeWork(service.kind, item);
}
