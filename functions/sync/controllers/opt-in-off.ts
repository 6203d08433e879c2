/**
 * Slices of Services that opted in, beside the built-in controllers, while the cluster's switch is off or at shadow: the hub writes nothing, but deletes its
 * own slices of a Service that has another writer. Otherwise they would serve pods that are gone for ever. The manifest of such a cluster may have taken
 * the hub's rights away.
 */
import { type ClusterApiError, isRefusal } from '#shared/cluster-api/errors.ts';
import { isShadow, writesOptIn } from '#shared/clusters/mode.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { refusedText } from '#shared/opt-in/hand-over.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { forgetOutputs, type OutputRecord } from '#shared/store/outputs.ts';
import { readDifference, saveDifference } from '#shared/store/shadow-record.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps } from '../state/deps.ts';
import { type Inputs, isOursByOptIn } from '../state/inputs.ts';

export const isOffBeside = (cluster: ClusterRecord): boolean => isShadow(cluster) && !writesOptIn(cluster);

/** A cluster in which opt-in was never on has no slices of it. */
export const mayWithdraw = ({ reaches }: Pick<SyncDeps, 'reaches'>, cluster: ClusterRecord): boolean =>
  cluster.optInSince > 0 && Boolean(reaches?.(cluster) ?? cluster.api);

/** Returns true if a run has slices of ours to delete, or to forget. `seen`: by the relay. `written`: outputs that sync has saved. */
export async function isToBeWithdrawn(
  { table }: Pick<SyncDeps, 'table'>,
  key: ServiceKey,
  { service, writers, outputs: seen }: Inputs,
  written: readonly OutputRecord[],
): Promise<boolean> {
  const ours = written.filter(isOursByOptIn);
  if (ours.length === 0) return false;
  const isDeleted = ({ kind, name, uid }: OutputRecord): boolean =>
    seen.some((o) => o.kind === kind && o.name === name && o.uid === uid && !o.object);
  // By a person, for instance. This needs no rights.
  if (ours.every(isDeleted)) {
    await forgetOutputs(table, key, ['EndpointSlice']);
    return false;
  }
  const { by } = writers.slices;
  return !service || by === 'built-in' || by === 'none';
}

export const isRefusedWhileOff = (cluster: ClusterRecord, error: unknown): error is ClusterApiError => isOffBeside(cluster) && isRefusal(error);

/** The next run of the Service tries again, at the latest by a resync. Explain has the refusal. */
export async function toldRefusal({ table, metrics, log, now }: SyncDeps, key: ServiceKey, { message }: ClusterApiError): Promise<Outcome> {
  const text = refusedText(message);
  const known = await readDifference(table, key);
  if (known?.text !== text) await saveDifference(table, key, { text, sinceMs: now(), confirmed: false });
  metrics.put('HandOversWaiting', 1, { cluster: key.cluster });
  log.warn('slices of the opt-in cannot be deleted', { ...key, error: message });
  return ok;
}
