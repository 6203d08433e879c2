/**
 * The sources of an import: the exports of its name, and the pods of each source that is not silent (MC-70).
 */

import { type ClustersetRun, keyInSet } from '#functions/clusterset/sync/clusterset-run.ts';
import { nodesOf } from '#functions/sync/state/kept-nodes.ts';
import { requeueRun } from '#functions/sync/state/requeue.ts';
import { type ClusterState, readClusterState } from '#shared/clusters/record.ts';
import { hasLeft } from '#shared/clusters/writer/mode.ts';
import { zonesAway } from '#shared/clusters/zones-away.ts';
import { decodeExportedPods } from '#shared/clusterset/exports/exported-pods.ts';
import { type MergedExports, mergeExports } from '#shared/clusterset/exports/merge.ts';
import {
  type ExportedService,
  settledWinner,
  winnerToRecord,
} from '#shared/clusterset/exports/precedence.ts';
import { zonesOf } from '#shared/clusterset/imports/import-hints.ts';
import type { ImportSource } from '#shared/clusterset/imports/imported-slices.ts';
import type { Importer } from '#shared/clusterset/imports/locality-hints.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { isListed, sourceStateOf, witnessOf } from '#shared/clusterset/membership/source-witness.ts';
import { type SetEntries, saveWinner } from '#shared/clusterset/store/clusterset-index.ts';
import {
  readExportedPods,
  type StoredExportedPods,
  textOf,
} from '#shared/clusterset/store/exported-pods-record.ts';
import { allToEnd, concurrently } from '#shared/concurrently.ts';
import { parseCidr } from '#shared/kube/cidr.ts';

export interface Sources {
  /** Undefined: nothing exports the name. */
  readonly merged: MergedExports | undefined;
  /**
   * When the merge was made, ms since the epoch: an export that decided for long enough by then has
   * precedence.
   */
  readonly mergedAtMs: number;
  readonly sources: readonly ImportSource[];
  readonly importer: Importer;
  readonly entries: SetEntries;
  readonly memberOf: ReadonlyMap<string, SourceMember>;
}

interface SourceMember extends ClusterState {
  readonly pods: StoredExportedPods | undefined;
}

export async function readSources(run: ClustersetRun, entries: SetEntries): Promise<Sources> {
  const { deps } = run;
  const { exportTexts, winner } = entries;
  const members = (await concurrently(8, [...exportTexts.keys()], (id) => readMember(run, id))).flat();
  const exports = members.map(({ id }) => JSON.parse(exportTexts.get(id) as string) as ExportedService);
  const mergedAtMs = deps.now();
  const merged = mergeExports(exports, settledWinner(winner, mergedAtMs));
  return {
    merged,
    mergedAtMs,
    sources: members.map((member) => sourceOf(run, member)),
    importer: await importerOf(run, merged),
    entries,
    memberOf: new Map(members.map((member) => [member.id, member])),
  };
}

/**
 * Exports of a cluster that has left do not count. An entry comes from the exporter itself, so the hub's
 * record of that cluster decides.
 */
async function readMember(
  { deps, namespace, name }: ClustersetRun,
  id: string,
): Promise<readonly SourceMember[]> {
  const [member, pods] = await allToEnd([
    readClusterState(deps.table, id),
    readExportedPods(deps.table, { cluster: id, namespace, name }),
  ]);
  return member && !hasLeft(member) ? [{ ...member, pods }] : [];
}

/**
 * Records whose export has precedence, or that nothing exports the name any more. Throws RequeueAfter if
 * another run has recorded it meanwhile.
 */
export async function recordWinner(
  run: ClustersetRun,
  { merged, mergedAtMs, entries: { winner } }: Sources,
): Promise<void> {
  const next = merged && winnerToRecord(merged.winner, winner, mergedAtMs);
  if (merged ? next === undefined : winner === undefined) return;
  if (!(await saveWinner(run.deps.table, keyInSet(run), next, winner)))
    throw requeueRun(run.deps, 'soon', {
      reason: 'another cluster has named the export that has precedence',
    });
}

/** Its nodes are read only where an export asks for a locality. */
async function importerOf(
  { deps, cluster }: ClustersetRun,
  merged: MergedExports | undefined,
): Promise<Importer> {
  return {
    cluster: cluster.id,
    zones: merged?.locality ? zonesOf((await nodesOf(deps, cluster)).nodes.values()) : [],
  };
}

/**
 * A silent source gets its last known pods, for an importing cluster without its slices: the cluster has just
 * joined, or a user has deleted the import. The endpoints may be dead, as those in the other importers.
 */
function sourceOf(run: ClustersetRun, member: SourceMember): ImportSource {
  const podCidrs = membershipOf(member).exports.podCidrs?.flatMap((text) => parseCidr(text) ?? []);
  const state = sourceStateOf(member, run.deps.now());
  const counts = state === 'fresh' || isListed(member);
  const exported =
    counts || (state === 'silent' && witnessOf(member).isSynced) ? exportedIn(run, member) : undefined;
  return {
    cluster: member.id,
    podCidrs,
    state: counts ? (exported ? 'fresh' : 'silent') : state,
    ...(exported && { exported }),
    zonesAway: zonesAway(member, run.deps.now()),
  };
}

/**
 * Returns undefined if the slices are to stay: until the run of the export has saved its pods, or while they
 * are too large.
 */
function exportedIn(
  { namespace, name, found }: ClustersetRun,
  { id, incarnation, pods }: SourceMember,
): ImportSource['exported'] {
  if (pods?.incarnation !== incarnation) return undefined;
  const text = textOf(pods);
  if (text === undefined) found.unread = [...new Set([...(found.unread ?? []), id])].sort();
  return text === undefined ? undefined : decodeExportedPods(namespace, name, text);
}
