/**
 * `cluster exports CLUSTER [all | none | NAMESPACE,…]`: selects the namespaces whose Services a cluster may
 * export. The switch is audited, and takes effect within seconds. Without a value the command prints the
 * cluster's state in the set.
 */

import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { listedNames } from '#infra/cli/terminal/counted.ts';
import { say } from '#infra/cli/terminal/printable.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { firstOverlap } from '#infra/config/overlaps.ts';
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import { excludedNamespaces } from '#shared/clusterset/contract/clusterset-names.ts';
import {
  isMember,
  membershipOf,
  namespacesText,
  saveMembership,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import { readSetEntries } from '#shared/clusterset/store/clusterset-index.ts';
import { exportsOfCluster } from '#shared/clusterset/store/exports-of-cluster.ts';
import { concurrently } from '#shared/concurrently.ts';
import { listed } from '#shared/store/pages.ts';
import type { Table } from '#shared/store/table.ts';
import { memberLines, memberOf, noteSwitch, type SetSwitchOptions } from './clusterset-member.ts';
import { toLetIn } from './imports-switch.ts';

export interface ExportsOptions extends SetSwitchOptions {
  /** As typed. */
  readonly exports: string | undefined;
}

type Namespaces = readonly string[] | 'all';

/** `wake` enqueues the cluster's services, and resolves to a text with their number. */
export async function exportsCommand(
  hub: Hub,
  options: ExportsOptions,
  wake: (id: string) => Promise<string>,
): Promise<void> {
  const cluster = await memberOf(hub, options.id);
  const { id, mode } = cluster;
  const membership = membershipOf(cluster);
  if (options.exports === undefined) return say(...memberLines(cluster));
  console.error(`exports on ${hub.name}`);
  const namespaces = parseNamespaces(options.exports);
  if (!isMember(cluster)) throw new UsageError(`${id} is in no clusterset: ${toLetIn(id, 'exports')}`);
  if (namespaces.length > 0) {
    if (!cluster.api && !hub.connectionsFile)
      throw new UsageError(
        `${id} has no api, which the hub asks before it withdraws endpoints: ${toLetIn(id, 'api')}`,
      );
    await checkRanges(hub, cluster);
  }
  if (!options.override) await checkWithdrawn(hub.table, cluster, namespaces);
  const exports = { ...membership.exports, namespaces };
  if (!(await saveMembership(hub.table, id, { ...membership, exports })))
    throw new UsageError(`${id} was deregistered meanwhile`);
  const what = `exports ${namespacesText(membership.exports)} → ${namespacesText(exports)}`;
  await noteSwitch(hub, options, what);
  const paused =
    ' (the cluster is paused: withdrawals take effect now, new exports when it is switched back)';
  say(`${id}  ${what}, ${await wake(id)}${mode === 'paused' ? paused : ''}`);
}

export function parseNamespaces(typed: string): Namespaces {
  if (typed === 'all') return 'all';
  if (typed === 'none') return [];
  const names = [...new Set(typed.split(','))];
  const wrong = names.find((name) => !/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name));
  if (wrong !== undefined)
    throw new UsageError(
      `${JSON.stringify(wrong)} is not the name of a namespace: all, none, or names with "," between them`,
    );
  const never = names.filter((name) => excludedNamespaces.includes(name));
  if (never.length > 0)
    throw new UsageError(
      `${never.join(', ')}: never exported, as none of ${excludedNamespaces.join(', ')} is`,
    );
  return names;
}

/**
 * Checks the ranges of clusters.yaml. A switch cannot change them, because the importers' admission policies
 * contain them too.
 */
async function checkRanges(hub: Hub, cluster: ClusterRecord): Promise<void> {
  const { id } = cluster;
  const { set, exports } = membershipOf(cluster);
  if (!exports.podCidrs && !hub.connectionsFile)
    throw new UsageError(
      `${id} has no ranges for its pods' addresses: ${toLetIn(id, 'exports: { namespaces: […], podCidrs: […] }')}, and that of each importer`,
    );
  const others = await concurrently(16, await listClusters(hub.table), (other) =>
    readCluster(hub.table, other),
  );
  for (const other of others) {
    if (!other || other.id === id || isDeregistered(other) || membershipOf(other).set !== set) continue;
    if (exports.allowOverlap && membershipOf(other).exports.allowOverlap) continue;
    const found = firstOverlap(exports.podCidrs, membershipOf(other).exports.podCidrs);
    if (found)
      throw new UsageError(
        `podCidrs of ${id} and of ${other.id} overlap: ${found.join(' and ')}. An importer could not tell whose pod an address is: give each its own ranges in clusters.yaml, or both allowOverlap: true`,
      );
  }
}

/** Throws a UsageError if an import would lose its last source. */
async function checkWithdrawn(table: Table, cluster: ClusterRecord, next: Namespaces): Promise<void> {
  if (next === 'all') return;
  const { id } = cluster;
  const { set, exports } = membershipOf(cluster);
  const exported = (await listed(exportsOfCluster(table, set, id))).filter(
    ({ namespace }) => !next.includes(namespace),
  );
  const emptied = await concurrently(16, exported, async ({ namespace, name }) => {
    const { exportTexts } = await readSetEntries(table, { set, namespace, name });
    return exportTexts.has(id) && exportTexts.size === 1 ? `${namespace}/${name}` : undefined;
  });
  const names = emptied.filter((name) => name !== undefined);
  if (names.length === 0) return;
  throw new UsageError(
    `${id} keeps exports ${namespacesText(exports)}: it is the only cluster that exports ${listedNames(names)}, and its importers would lose these Services. --override withdraws them anyway`,
  );
}
