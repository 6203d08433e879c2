/** How many Services a cluster exports of one namespace (MC-59). Each is read wherever the namespace's exports are looked through. */
import type { ExportValidity } from '#shared/clusterset/export-validity.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { readSetNamespace } from '#shared/store/clusterset-index.ts';
import { isAlive, readObjects } from '#shared/store/objects.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { wakeNow } from '#shared/workqueue/rules/message.ts';
import { exportWork } from '#shared/workqueue/rules/work-kind.ts';
import type { ClustersetRun } from './clusterset-run.ts';

/** Of an export that is not among the exported ones yet; those that are stay, whatever comes. Where it matters to no one it costs one read. */
export async function withinLimit(run: ClustersetRun, validity: ExportValidity): Promise<ExportValidity> {
  const most = limitsOf(run.deps).sync.mostExports;
  const there = validity.valid ? await exportsIn(run) : [];
  if (there.length <= most) return validity;
  const exported = await exportedIn(run);
  if (exported.size < most) return validity;
  const message = `the cluster exports ${most.toLocaleString('en')} Services of namespace ${run.namespace}, which is the most, and this one is not among them`;
  return { valid: false, reason: 'TooMany', message };
}

/** An export has gone: one of those that were too many may take its place. */
export async function wakeBeyondLimit(run: ClustersetRun): Promise<void> {
  const { deps, meta, namespace, name } = run;
  const there = await exportsIn(run);
  if (there.length < limitsOf(deps).sync.mostExports) return;
  const exported = await exportedIn(run);
  const waiting = there.filter((other) => other !== name && !exported.has(other));
  const wakeUps = waiting.map((other) => wakeNow(namespace, exportWork(other)));
  await addWork(deps, deps.queues(meta.id, meta.queues).syncs, meta.id, wakeUps);
}

async function exportsIn({ deps, meta, namespace }: ClustersetRun): Promise<readonly string[]> {
  const records = await readObjects({ table: deps.table, cluster: meta.id }, 'ServiceExport', namespace);
  return records.filter(isAlive).map((record) => record.name);
}

async function exportedIn({ deps, meta, namespace }: ClustersetRun): Promise<ReadonlySet<string>> {
  const byName = await readSetNamespace(deps.table, meta.clusterset.set, namespace);
  return new Set([...byName].flatMap(([name, { faces }]) => (faces.has(meta.id) ? [name] : [])));
}
