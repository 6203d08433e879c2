/** Wakes the imports and exports of names for sweep. */

import { endAtMs, type SweepDeps } from '#functions/sweep/sweep-deps.ts';
import { clustersAtOnce } from '#functions/sweep/sweep-run.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { hasRuns } from '#shared/clusters/writer/mode.ts';
import { listImporters, membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { saveSource, sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { readSetEntries, type SetKey } from '#shared/clusterset/store/clusterset-index.ts';
import { exportsOfCluster } from '#shared/clusterset/store/exports-of-cluster.ts';
import { concurrentlySettled, concurrentlyToEnd } from '#shared/concurrently.ts';
import { listed } from '#shared/store/pages.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { type WakeUp, wakeNow } from '#shared/workqueue/rules/message.ts';

/**
 * Sends the wake-ups that the record of a source marks as pending. If the run's time ends, the record keeps
 * the last importer that is woken, and the next run continues behind it. Rejects after the record is saved if
 * an importer could not be woken. Its work item may have a generation, which becomes overdue.
 */
export async function wakeForSource(deps: SweepDeps, member: ClusterRecord): Promise<void> {
  const source = sourceOf(member);
  if (source?.wokenUpTo === undefined) return;
  const { wokenUpTo: _, ...settled } = source;
  const { set } = membershipOf(member);
  const exported = await listed(exportsOfCluster(deps.table, set, member.id));
  if (source.state === 'fresh') {
    // A batch of ingest that got the source's heartbeat may have ended before its wake-ups. The exports wake
    // the importers, as after a change.
    await wake(
      deps,
      member.id,
      set,
      exported.map(({ namespace, name }) => wakeNow(namespace, name, 'export')),
    );
    await saveSource(deps.table, member, undefined);
    return;
  }
  const { stoppedAt, failures } = await wakeImporters(deps, exported, source.wokenUpTo);
  await saveSource(
    deps.table,
    member,
    stoppedAt === undefined ? settled : { ...settled, wokenUpTo: stoppedAt },
  );
  if (failures.length > 0) throw failures[0];
}

export interface WokenImporters {
  /** The last woken importer if time ended before the list. */
  readonly stoppedAt: string | undefined;
  /** An error for each importer that could not be woken. */
  readonly failures: readonly unknown[];
}

/** `exported`: names of one set. `after`: importers up to this id are woken already. */
export async function wakeImporters(
  deps: SweepDeps,
  exported: readonly SetKey[],
  after = '',
): Promise<WokenImporters> {
  const failures: unknown[] = [];
  const [first] = exported;
  if (!first) return { stoppedAt: undefined, failures };
  const wakeUps = exported.map(({ namespace, name }) => wakeNow(namespace, name, 'import'));
  const importers = (await listImporters(deps.table)).filter((id) => id > after);
  let last = after;
  for (let i = 0; i < importers.length; i += clustersAtOnce) {
    if (deps.now() >= endAtMs(deps)) return { stoppedAt: last, failures };
    const turn = importers.slice(i, i + clustersAtOnce);
    failures.push(
      ...(await concurrentlySettled(clustersAtOnce, turn, (id) => wake(deps, id, first.set, wakeUps)))
        .failures,
    );
    last = turn.at(-1) ?? last;
  }
  return { stoppedAt: undefined, failures };
}

/** The exports of the name have not changed: they look at their conditions. */
export async function wakeExports(deps: SweepDeps, key: SetKey): Promise<void> {
  const { exportTexts } = await readSetEntries(deps.table, key);
  const wakeUp = { ...wakeNow(key.namespace, key.name, 'export'), lookOnly: true };
  await concurrentlyToEnd(8, [...exportTexts.keys()], (id) => wake(deps, id, key.set, [wakeUp]));
}

async function wake(deps: SweepDeps, id: string, set: string, wakeUps: readonly WakeUp[]): Promise<void> {
  try {
    const cluster = await readCluster(deps.table, id);
    if (cluster && hasRuns(cluster) && membershipOf(cluster).set === set)
      await addWork(deps, deps.queues(id, cluster.queues).syncs, id, wakeUps);
  } catch (error) {
    throw new Error(
      `cluster ${id} cannot be woken: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}
