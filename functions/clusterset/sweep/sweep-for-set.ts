/** What sweep does for services across clusters. */

import { sendOwnList } from '#functions/sweep/own-list.ts';
import type { SweepDeps } from '#functions/sweep/sweep-deps.ts';
import type { SweepRun } from '#functions/sweep/sweep-run.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { isMember, membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { allToEnd } from '#shared/concurrently.ts';
import { checkSources } from './clusterset-sources.ts';
import { leaveSet } from './leave-set.ts';
import { wakeForSource } from './wake-importers.ts';

interface Reported {
  readonly records: readonly ClusterRecord[];
  readonly isWhole: boolean;
  readonly ownListsSent: Promise<unknown>;
}

async function steps(run: SweepRun, { records, isWhole, ownListsSent }: Reported): Promise<void> {
  const { deps } = run;
  if (!records.some(isMember)) return;
  const sources = await checkSources(run, records, isWhole);
  await allToEnd([
    run.each('wakeForSource', sources, (source) => wakeForSource(deps, source), { atOnce: 1 }),
    ownListsSent.then(() => listSources(run, sources)),
  ]);
}

/** The Pods of silent sources whose APIs answer, one cluster after the other. */
async function listSources(run: SweepRun, sources: readonly ClusterRecord[]): Promise<void> {
  const answering = sources.filter((cluster) => sourceOf(cluster)?.answers);
  await run.each('listSources', answering, (source) => sendOwnList(run.deps, source, 'Pod'), { atOnce: 1 });
}

export const sweepForSet = {
  check: (cluster: ClusterRecord): void => void membershipOf(cluster),
  steps,
  /** Active importers are left out: their runs report missing rights. */
  mayImport: (cluster: ClusterRecord): boolean =>
    isMember(cluster) && membershipOf(cluster).imports !== 'active',
  /** Its ServiceExports name the entries that leaveSet has yet to withdraw. */
  leave: async (deps: SweepDeps, cluster: ClusterRecord): Promise<boolean> =>
    !isMember(cluster) || leaveSet(deps, cluster),
};
