/**
 * Two writers of one object. A single edit is repaired. A service whose objects another manager keeps writing
 * is not written for a time. A manager that writes to many services in several namespaces, as
 * kube-controller-manager or another hub does, stops the cluster until a person switches its mode.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { afterForeignWrites } from '#shared/clusters/writer/service-conflict.ts';
import { noteForeignService, recordWriterConflict } from '#shared/clusters/writer/writer-conflict.ts';
import { conflictEvent } from '#shared/controllers/slices/outcome.ts';
import { isKubectl, lastContentWrite } from '#shared/kube/field-managers.ts';
import {
  endpointsManagedBy,
  fieldManagerOf,
  labelEndpointsManagedBy,
  labelSliceManagedBy,
  optInManagedBy,
} from '#shared/kube/names.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import type { OutputObject, OutputRecord } from '#shared/store/outputs/outputs.ts';
import type { ForeignWrites } from '#shared/store/outputs/service-counts.ts';
import { versionOf } from '#shared/store/version.ts';
import type { SyncDeps } from '../state/deps.ts';
import type { ForeignWrite, Run } from '../state/run.ts';

/**
 * Call it for every object of ours that a run has read from the cluster. Notes the object if another client
 * wrote it last since the hub writes here.
 */
export function noteIfForeign(run: Run, kind: OutputKind, object: OutputObject): void {
  if (!run.inputs.service?.spec?.selector || !isOurs(run, kind, object)) return;
  const known = run.inputs.outputs.filter((o) => o.kind === kind);
  // A take-over: the former writer's last writes may be later than the switch by the API server's clock.
  // Outputs are saved for the next run.
  if (known.length === 0) return;
  const saved = known.find((o) => o.name === object.metadata.name);
  const { cluster } = run;
  const atMs =
    run.managedBy === optInManagedBy
      ? Math.max(cluster.modeSwitch.atMs, cluster.optInSince)
      : cluster.modeSwitch.atMs;
  const manager = foreignManager(object, saved, { ...cluster, modeSwitch: { ...cluster.modeSwitch, atMs } });
  if (manager)
    run.foreignWrites.push({ kind, namespace: run.key.namespace, name: object.metadata.name, manager });
}

/**
 * Whoever wrote the content last, if it was neither we nor a person with kubectl, in a version that we don't
 * know, after our mode was switched last. (What a former writer has left behind at a take-over is older than
 * the switch.)
 */
export function foreignManager(
  object: OutputObject,
  saved: OutputRecord | undefined,
  cluster: ClusterRecord,
): string | undefined {
  const { resourceVersion = '0' } = object.metadata;
  if (saved && saved.version >= versionOf(cluster.incarnation, resourceVersion)) return undefined;
  const last = lastContentWrite(object);
  if (!last || last.manager === fieldManagerOf(cluster.writer) || isKubectl(last.manager)) return undefined;
  return last.atMs > cluster.modeSwitch.atMs ? last.manager : undefined;
}

/** The service's record of foreign writes after the run; undefined if the service is gone. */
export function foreignAfter({
  deps,
  cluster,
  inputs,
  counts,
  foreignWrites,
}: Run): ForeignWrites | undefined {
  const last = foreignWrites.at(-1);
  if (!inputs.service || !last) return inputs.service && counts.foreign;
  const found = { writes: foreignWrites.length, manager: last.manager };
  return afterForeignWrites(counts.foreign, found, { nowMs: deps.now(), cluster, limits: deps.limits.sync });
}

/**
 * Call after `saved` was saved. Each version counts once, unless the run loses its lease before its objects
 * are saved. Reports a stop of the service, and may stop the cluster.
 */
export async function countForeign(run: Run, saved: ForeignWrites | undefined): Promise<void> {
  const { deps, cluster, key, foreignWrites: foreign, counts } = run;
  if (foreign.length === 0 || !saved) return;
  if (saved.stops > 0 && saved.untilMs !== counts.foreign?.untilMs) await reportStop(run, saved);
  const nowMs = deps.now();
  const { namespace, name } = key;
  if (await noteForeignService(deps.table, cluster, { namespace, name, nowMs, limits: deps.limits.sync }))
    await stopWriting(deps, cluster, foreign, nowMs);
}

async function reportStop(
  { deps, key, inputs, brief }: Run,
  { manager, untilMs }: ForeignWrites,
): Promise<void> {
  const seconds = Math.round((untilMs - deps.now()) / 1000);
  deps.metrics.put('ServicesInConflict', 1, { cluster: key.cluster });
  deps.log.error('writer conflict of a service: another client keeps writing its objects', {
    ...key,
    manager,
    seconds,
  });
  if (inputs.service) await deps.events.record(brief, conflictEvent(inputs.service, manager, seconds));
}

async function stopWriting(
  deps: SyncDeps,
  cluster: ClusterRecord,
  foreign: readonly ForeignWrite[],
  nowMs: number,
): Promise<void> {
  if (!(await recordWriterConflict(deps.table, cluster, nowMs))) return;
  deps.metrics.put('WriterConflict', 1, { cluster: cluster.id });
  const [{ kind, namespace, name, manager }] = foreign as readonly [ForeignWrite];
  deps.log.error('writer conflict: the hub stops writing to the cluster until its mode is switched', {
    cluster: cluster.id,
    manager,
    last: `${kind} ${namespace}/${name}`,
    within: `${deps.limits.sync.foreignServicesMs / 1000} s`,
  });
}

function isOurs({ managedBy }: Run, kind: OutputKind, { metadata: { labels } }: OutputObject): boolean {
  if (kind === 'EndpointSlice') return labels?.[labelSliceManagedBy] === managedBy;
  return labels?.[labelEndpointsManagedBy] === endpointsManagedBy;
}
