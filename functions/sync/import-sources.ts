/** What an import is made of: the exports of its name, and of each source cluster whose word counts its Service, pods and nodes (MC-70). */
import { hasSynced } from '#shared/clusters/first-lists.ts';
import { isDeregistered } from '#shared/clusters/mode.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import type { ImportSource } from '#shared/clusterset/imported-slices.ts';
import { type MergedExports, mergeExports } from '#shared/clusterset/merge.ts';
import type { ExportedService, Winner } from '#shared/clusterset/precedence.ts';
import { isFresh } from '#shared/clusterset/source-state.ts';
import { concurrently } from '#shared/concurrently.ts';
import { parseCidr } from '#shared/kube/cidr.ts';
import { effective } from '#shared/opt-in/writer.ts';
import { readSetEntries, type SetKey, saveWinner } from '#shared/store/clusterset-index.ts';
import { decodeObjectOf, readObject } from '#shared/store/objects.ts';
import { Postponed } from '#shared/workqueue/rules/outcome.ts';
import type { ClustersetRun } from './clusterset-work.ts';
import { nodesOf, readPods, selected } from './load.ts';

export interface Sources {
  /** Undefined: nothing exports the name. */
  readonly merged: MergedExports | undefined;
  readonly sources: readonly ImportSource[];
  readonly metaOf: ReadonlyMap<string, ClusterRecord>;
}

export async function readSources(run: ClustersetRun): Promise<Sources> {
  const { deps, meta, namespace, name } = run;
  const key: SetKey = { set: meta.clusterset.set, namespace, name };
  const { faces, winner } = await readSetEntries(deps.table, key);
  const records = await concurrently(16, [...faces.keys()], (id) => readCluster(deps.table, id));
  // A cluster that has left exports nothing. What it exports is its own word, so the rest of its record decides whether that counts.
  const members = records.filter((record) => record !== undefined && !isDeregistered(record)) as readonly ClusterRecord[];
  const exports = members.map((member) => JSON.parse(faces.get(member.id) as string) as ExportedService);
  const before = winner === undefined ? undefined : (JSON.parse(winner) as Winner);
  const merged = mergeExports(exports, { winner: before, precedence: meta.clusterset.precedence });
  if (merged && JSON.stringify(merged.winner) !== winner && !(await saveWinner(deps.table, key, JSON.stringify(merged.winner), winner)))
    throw new Postponed('another cluster has named the export that has precedence', 1);
  const sources = await concurrently(8, members, (member) => sourceOf(run, member));
  return { merged, sources, metaOf: new Map(members.map((member) => [member.id, member])) };
}

async function sourceOf({ deps, namespace, name }: ClustersetRun, member: ClusterRecord): Promise<ImportSource> {
  const { podCidrs } = member.clusterset.exports;
  const source = { cluster: member.id, podCidrs: podCidrs?.flatMap((text) => parseCidr(text) ?? []) };
  const { heartbeatAtMs } = member.relay;
  if (!isFresh({ isSynced: hasSynced(member), isPaused: member.mode === 'paused', heartbeatAtMs }, deps.now())) return { ...source, state: 'silent' };
  const stored = decodeObjectOf('Service', await readObject({ table: deps.table, cluster: member.id }, 'Service', namespace, name));
  const service = stored && effective(stored, member.optIn);
  // The export run will say so: until it has, its slices stay.
  if (!service?.spec?.selector) return { ...source, state: 'silent' };
  const { selector } = service.spec;
  const exporting = { cluster: member.id, namespace, name };
  const [{ pods: all }, { nodes }] = await Promise.all([readPods(deps, exporting, { scope: member.cacheScope }), nodesOf(deps, member)]);
  const pods = selected(all, selector);
  return { ...source, state: 'fresh', exported: { service, pods, nodes } };
}
