/**
 * While a cluster is not written to, nothing of the time when it was may keep an alarm ringing, or deaf
 * (docs/operate/runbook.md).
 */
import { readCluster } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { metaKey, parseWorkKey } from '#shared/store/keys.ts';
import type { Item } from '#shared/store/table.ts';
import type { Metrics } from '#shared/telemetry/port.ts';
import { decodeWork } from '#shared/workqueue/item-attributes.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import type { WorldState } from '#test/worlds/simulation/world/world-state.ts';

/** No run would close its circuit: the API is not asked. */
export async function checkCircuit(world: WorldState): Promise<void> {
  if (world.awaySince > world.scheduler.now) return;
  const item = await world.table.get(metaKey(world.cluster));
  if (item?.['circuit'] !== undefined)
    world.fail('the circuit of a cluster that is not written to stays open');
}

/** Age of pending work before a run of sweep that the run must have seen, ms. */
const owedForMs = 5_000;

/** Compares the metrics of a run of sweep with the true state. */
export function watchedMetrics(world: WorldState, inner: Metrics): Metrics {
  const begunAt = world.scheduler.now;
  // The cluster may be synced before the run publishes.
  const meta = readCluster(world.table, world.cluster);
  return {
    put(name, value, dimensions) {
      inner.put(name, value, dimensions);
      // Switched while it runs, it may have read either.
      if (world.awaySince > begunAt) return;
      if (name === 'CircuitOpen' && value > 0)
        world.fail('sweep tells of an open circuit of a cluster that is not written to');
      if (name === 'OldestDirtyAge' && value === 0) void muted(world, meta, begunAt);
    },
  };
}

async function muted(
  world: WorldState,
  read: ReturnType<typeof readCluster>,
  begunAt: number,
): Promise<void> {
  // Without its index sweep knows of no work.
  if (!world.profile.sweepWakes) return;
  const dirtyAt = (item: Item): number => (item['dirtyAt'] as number | undefined) ?? Number.POSITIVE_INFINITY;
  // Sweep reads only the oldest entries of the index, with entries that are not due yet.
  const overdue = (await world.table.items())
    .filter((item) => item.pk.includes('#WORK#'))
    .sort((a, b) => dirtyAt(a) - dirtyAt(b))
    .slice(0, world.profile.limits.sweep.maxOverdue);
  const meta = await read;
  if (!meta || !hasSynced(meta)) return;
  for (const item of overdue) {
    const work = decodeWork(parseWorkKey(item.pk).kind, item);
    const retriesDue = Object.values(work.parts).map(({ retryDueMs }) => retryDueMs);
    const due =
      Math.max(work.dirtyAtMs ?? Number.POSITIVE_INFINITY, ...retriesDue) +
      world.profile.batchPeriodSeconds * 1000;
    if (!isClean(work) && due < begunAt - owedForMs)
      return world.fail(`sweep does not tell that ${item.pk} is due since ${due}`);
  }
}
