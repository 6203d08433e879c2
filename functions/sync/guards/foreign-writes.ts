/**
 * Never two writers: where kube-controller-manager, another hub or anybody else keeps writing objects under our managed-by values, the cluster stops
 * being written to, until a person has switched its mode. One edit by hand is no second writer: it is repaired.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { countForeignWrites, recordWriterConflict } from '#shared/clusters/writer-conflict.ts';
import { defaultLimits, limitsOf } from '#shared/contract/limits.ts';
import { endpointsManagedByLabel, fieldManagerOf, optInManager, sliceManagedByLabel } from '#shared/contract/managed-by.ts';
import { isKubectl, lastContentWrite } from '#shared/kube/field-managers.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import type { OutputObject, OutputRecord } from '#shared/store/outputs.ts';
import { versionOf } from '#shared/store/version.ts';
import type { SyncDeps } from '../state/deps.ts';
import type { ForeignWrite, Run } from '../state/run.ts';

/** Of production. */
export const tolerated = defaultLimits.sync.toleratedForeignWrites;

/** To be asked of every object of ours that a run has read from the cluster: is it as somebody else has left it since we write here? */
export function noteIfForeign(run: Run, kind: OutputKind, object: OutputObject): void {
  if (!run.inputs.service?.spec?.selector || !isOurs(run, kind, object)) return;
  const saved = run.inputs.outputs.find((o) => o.kind === kind && o.name === object.metadata.name);
  const { meta } = run;
  const atMs = run.managedBy === optInManager ? Math.max(meta.modeSwitch.atMs, meta.optInSince) : meta.modeSwitch.atMs;
  const manager = foreignManager(object, saved, { ...meta, modeSwitch: { ...meta.modeSwitch, atMs } });
  if (manager) run.foreignWrites.push({ kind, namespace: run.key.namespace, name: object.metadata.name, manager });
}

/**
 * Whoever wrote the content last, if it was neither we nor a person with kubectl, in a version that we don't know, after our mode was
 * switched last. (What a former writer has left behind at a take-over is older than the switch.)
 */
export function foreignManager(object: OutputObject, saved: OutputRecord | undefined, meta: ClusterRecord): string | undefined {
  const { resourceVersion = '0' } = object.metadata;
  if (saved && saved.version >= versionOf(meta.incarnation, resourceVersion)) return undefined;
  const last = lastContentWrite(object);
  if (!last || last.manager === fieldManagerOf(meta.writer) || isKubectl(last.manager)) return undefined;
  return last.atMs > meta.modeSwitch.atMs ? last.manager : undefined;
}

/** Counts what the run has met, after the objects were saved: so each version counts once. The last drop stops the writing. */
export async function countForeign({ deps, meta, foreignWrites: foreign }: Pick<Run, 'deps' | 'meta' | 'foreignWrites'>): Promise<void> {
  if (foreign.length === 0) return;
  const { toleratedForeignWrites, foreignWritesMs: windowMs } = limitsOf(deps).sync;
  const nowMs = deps.now();
  const writes = await countForeignWrites(deps.table, meta, foreign.length, { nowMs, windowMs });
  if (writes >= toleratedForeignWrites) await stopWriting(deps, meta, foreign, nowMs);
}

async function stopWriting(deps: SyncDeps, meta: ClusterRecord, foreign: readonly ForeignWrite[], nowMs: number): Promise<void> {
  if (!(await recordWriterConflict(deps.table, meta, nowMs))) return;
  deps.metrics.put('WriterConflict', 1, { cluster: meta.id });
  const [{ kind, namespace, name, manager }] = foreign as readonly [ForeignWrite];
  deps.log.error('two writers: nothing more is written to the cluster until its mode is switched', {
    cluster: meta.id,
    manager,
    last: `${kind} ${namespace}/${name}`,
    within: `${limitsOf(deps).sync.foreignWritesMs / 1000} s`,
  });
}

function isOurs({ managedBy }: Run, kind: OutputKind, { metadata: { labels } }: OutputObject): boolean {
  if (kind === 'EndpointSlice') return labels?.[sliceManagedByLabel.key] === managedBy;
  return labels?.[endpointsManagedByLabel.key] === endpointsManagedByLabel.value;
}
