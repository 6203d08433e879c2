/**
 * Slices of Services that opted in, beside the built-in controllers, while the cluster's switch is off or at
 * shadow: the hub writes nothing, but deletes its own slices of a Service that has another writer. Otherwise
 * they would serve pods that are gone for ever. The manifest of such a cluster may have taken the hub's
 * rights away.
 */
import { type ClusterApiError, isRefusal } from '#shared/clusters/api/errors.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { isShadow, writesOptIn } from '#shared/clusters/writer/mode.ts';
import { refusedText } from '#shared/controllers/opt-in/hand-over.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { forgetOutputs, type OutputRecord } from '#shared/store/outputs/outputs.ts';
import { readDifference, saveDifference } from '#shared/store/outputs/shadow-record.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps } from '../state/deps.ts';
import { type Inputs, isOursByOptIn } from '../state/inputs.ts';
import type { RunResult } from '../state/run-result.ts';
import { ServerState } from '../state/server-state.ts';

export const isOffBeside = (cluster: ClusterRecord): boolean => isShadow(cluster) && !writesOptIn(cluster);

/** A cluster in which opt-in was never on has no slices of it. */
export const mayWithdraw = ({ reaches }: Pick<SyncDeps, 'reaches'>, cluster: ClusterRecord): boolean =>
  cluster.optInSince > 0 && Boolean(reaches?.(cluster) ?? cluster.api);

/**
 * What a run has to do in a cluster in shadow mode. `forgotten`: for the history, slices of ours that others
 * have deleted.
 */
export interface TaskBeside {
  readonly to: 'write' | 'compare';
  readonly forgotten?: Required<Pick<RunResult, 'server' | 'inputs'>>;
}

/**
 * Slices of ours are to be deleted, or forgotten. `observed` has the outputs that the relay saw, and
 * `written` are those that sync has saved.
 */
export async function withdrawalOf(
  { table, now }: Pick<SyncDeps, 'table' | 'now'>,
  { key, incarnation }: { readonly key: ServiceKey } & Pick<ClusterRecord, 'incarnation'>,
  observed: Inputs,
  written: readonly OutputRecord[],
): Promise<TaskBeside> {
  const ours = written.filter(isOursByOptIn);
  if (ours.length === 0) return { to: 'compare' };
  const isDeleted = ({ kind, name, uid }: OutputRecord): boolean =>
    observed.outputs.some((o) => o.kind === kind && o.name === name && o.uid === uid && !o.object);
  // By a person, for instance. This needs no rights.
  if (ours.every(isDeleted)) {
    const server = new ServerState(incarnation, written, now);
    for (const { kind, object } of written)
      if (kind === 'EndpointSlice' && object) server.recordMissing(kind, object);
    await forgetOutputs(table, key, ['EndpointSlice']);
    return { to: 'compare', forgotten: { server, inputs: { ...observed, outputs: written } } };
  }
  const { by } = observed.writers.slices;
  return { to: !observed.service || by === 'built-in' || by === 'none' ? 'write' : 'compare' };
}

export const isRefusedWhileOff = (cluster: ClusterRecord, error: unknown): error is ClusterApiError =>
  isOffBeside(cluster) && isRefusal(error);

/** The next run of the Service tries again, at the latest by a resync. Explain has the refusal. */
export async function reportedRefusal(
  { table, metrics, log, now }: SyncDeps,
  key: ServiceKey,
  { message }: ClusterApiError,
): Promise<Outcome> {
  const text = refusedText(message);
  const known = await readDifference(table, key);
  if (known?.text !== text) await saveDifference(table, key, { text, sinceMs: now(), confirmed: false });
  metrics.put('HandOversWaiting', 1, { cluster: key.cluster });
  log.warn('slices of the opt-in cannot be deleted', { ...key, error: message });
  return ok;
}
