/**
 * `cluster imports CLUSTER off --withdraw`: what the cluster has imported is deleted first, by the runs that
 * would keep it up to date otherwise.
 */

import { listedNames } from '#infra/cli/terminal/counted.ts';
import { say } from '#infra/cli/terminal/printable.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { hasRuns } from '#shared/clusters/writer/mode.ts';
import { isWoken } from '#shared/clusters/writer/mode-switch.ts';
import { isOurImport } from '#shared/clusterset/imports/import-ownership.ts';
import { membershipOf, saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { importWakeUps } from '#shared/clusterset/wake-ups/member-wake-ups.ts';
import { concurrently } from '#shared/concurrently.ts';
import { decodeObjectOf, isAlive, readObjects } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';

export interface Withdrawal {
  readonly table: Table;
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
  /** How long it is waited for, ms. */
  readonly maxMs: number;
  readonly note: (what: string) => Promise<void>;
  readonly wake: () => Promise<string>;
}

const lookEveryMs = 1000;

export async function withdrawImports(cluster: ClusterRecord, withdrawal: Withdrawal): Promise<void> {
  const { id, mode } = cluster;
  const membership = membershipOf(cluster);
  const { table, now, wait, maxMs, note, wake } = withdrawal;
  if (!hasRuns({ mode }))
    throw new UsageError(`${id} is ${mode}, so it has no runs: switch it to shadow or active first`);
  const imported = await importedNames(table, id, membership.set);
  // A switch to off would leave what a run writes that began before it: each of these has to have run after
  // it.
  const toRun = await importWakeUps(table, cluster);
  if (!(await saveMembership(table, id, { ...membership, imports: 'active', withdraws: true })))
    throw new UsageError(`${id} was deregistered meanwhile`);
  await note(
    `${imported.length} imports are withdrawn${imported.length > 0 ? `: ${listedNames(imported)}` : ''}`,
  );
  say(`${id}  ${imported.length} imports are being deleted, ${await wake()}`);
  const end = now() + maxMs;
  for (;;) {
    const left = await importedNames(table, id, membership.set);
    const modeSwitch = (await readCluster(table, id))?.modeSwitch;
    const areWoken = modeSwitch !== undefined && toRun.every((w) => isWoken(modeSwitch, w));
    const ran =
      areWoken &&
      (await concurrently(16, toRun, (w) => hasRun(table, id, w.namespace, w.name))).every(Boolean);
    if (left.length === 0 && ran) break;
    if (now() >= end) {
      const what =
        left.length > 0 ? `${left.length} imports are left: ${listedNames(left)}` : 'not every run has ended';
      throw new Error(
        `${id} stays withdrawing after ${maxMs / 1000} s, ${what}. Repeat the command to continue waiting, or run imports ${id} active to cancel it`,
      );
    }
    await wait(lookEveryMs);
  }
  say(`${id}  all are deleted`);
}

const hasRun = async (table: Table, cluster: string, namespace: string, name: string): Promise<boolean> =>
  isClean(await readWork(table, { cluster, namespace, kind: 'import', name }));

/** Returns the hub's own ServiceImports, from the snapshot. */
async function importedNames(table: Table, cluster: string, set: string): Promise<readonly string[]> {
  const records = (await readObjects({ table, cluster }, 'ServiceImport', '')).filter(isAlive);
  return records.flatMap((record) => {
    const found = decodeObjectOf('ServiceImport', record);
    return found && isOurImport(found, set) ? [`${record.namespace}/${record.name}`] : [];
  });
}
