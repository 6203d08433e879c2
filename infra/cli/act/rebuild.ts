/**
 * `fleet-endpoints cluster rebuild`: deletes a cluster's records from the table, and the relay's next lists
 * write them again. Only the mode, the settings, the queues, the access and the sessions stay. No endpoint
 * changes until the first lists are complete.
 *
 * Meanwhile the cluster is `removed` (decision 11): no run writes, and its messages are retried. The next
 * rebuild continues an interrupted one.
 */

import { recordAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { drainMs, modeBeforeRebuild, startRebuild } from '#shared/clusters/removal.ts';
import { isDeregistered, type Mode } from '#shared/clusters/writer/mode.ts';
import { concurrently } from '#shared/concurrently.ts';
import { clusterOfKey, sessionKey } from '#shared/store/keys.ts';
import type { Key, Table } from '#shared/store/table.ts';

export interface RebuildDeps {
  readonly table: Table;
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
  readonly say: (line: string) => void;
  readonly who: string;
  /**
   * Resolves to false if the local run lacks the cluster's relay. Undefined for a deployed hub, whose relays
   * are beyond reach.
   */
  readonly restartRelay?: ((cluster: string) => Promise<boolean>) | undefined;
}

export async function rebuild(deps: RebuildDeps, clusters: readonly string[]): Promise<void> {
  const { table, now, wait, say } = deps;
  const begun = (await concurrently(16, clusters, (id) => begin(deps, id))).filter(
    (cluster) => cluster !== undefined,
  );
  if (begun.length === 0) return;
  const drained = Math.max(...begun.map((cluster) => cluster.modeSwitch.atMs)) + drainMs;
  if (drained > now()) {
    say(`waiting ${Math.ceil((drained - now()) / 1000)} s for runs that had begun before`);
    await wait(drained - now());
  }
  say(`${await clear(table, new Set(begun.map((cluster) => cluster.id)), say)} records forgotten`);
  for (const cluster of begun) {
    const mode = await comeBack(deps, cluster);
    const isRestarted = (await deps.restartRelay?.(cluster.id)) ?? false;
    const relay = isRestarted ? 'its relay is restarted, and begins' : 'restart its relay, which begins';
    say(`${cluster.id}  registered again, ${mode}: ${relay} with first lists`);
  }
}

/** Returns the cluster's record during the rebuild; undefined if the cluster was removed. */
async function begin({ table, now, say }: RebuildDeps, id: string): Promise<ClusterRecord | undefined> {
  const cluster = await readCluster(table, id);
  if (!cluster) return undefined;
  if (isDeregistered(cluster)) {
    if (await modeBeforeRebuild(table, id)) return cluster;
    say(`${id}  skipped: it is deregistered`);
    return undefined;
  }
  if (!(await startRebuild(table, cluster, now()))) return undefined;
  return readCluster(table, id);
}

/**
 * One scan for all of them. Sessions stay bound to the former incarnation, because the queue still has
 * messages of theirs.
 */
async function clear(
  table: Table,
  clusters: ReadonlySet<string>,
  say: (line: string) => void,
): Promise<number> {
  const kept = new Set([...clusters].map((id) => sessionKey(id, '').pk));
  let next: Key | undefined;
  let cleared = 0;
  let pages = 0;
  do {
    const page = await table.scanKeys(next);
    const own = page.keys.filter((key) => clusters.has(clusterOfKey(key) ?? '') && !kept.has(key.pk));
    await concurrently(32, own, (key) => table.delete(key));
    cleared += own.length;
    next = page.next;
    if (++pages % 100 === 0) say(`${pages} pages of the table read, ${cleared} records deleted so far`);
  } while (next);
  return cleared;
}

/** Registers the cluster with the next incarnation, so that messages of the former one are ignored. */
async function comeBack(
  { table, now, who }: RebuildDeps,
  { id, labels, settings, queues, api, optIn }: ClusterRecord,
): Promise<Mode> {
  const mode = await modeBeforeRebuild(table, id);
  if (!mode) throw new Error(`cluster ${id} is not being rebuilt any more: another rebuild has ended`);
  await registerCluster(
    table,
    { id, ...(labels && { labels }), mode, settings, optIn, ...(queues && { queues }), ...(api && { api }) },
    now(),
  );
  await recordAudit(table, id, {
    at: new Date(now()).toISOString(),
    who,
    what: `rebuilt: all records deleted except its mode (${mode}), optIn (${optIn}) and settings`,
  });
  return mode;
}
