/** The run of an export or an import. */

import type { TimeLeft } from '#functions/sync/state/deadline.ts';
import type { SyncDeps } from '#functions/sync/state/deps.ts';
import { requeue } from '#functions/sync/state/requeue.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import type { SetKey } from '#shared/clusterset/store/clusterset-index.ts';
import type { ImportReport } from '#shared/clusterset/store/import-report.ts';
import type { RequeueOutcome } from '#shared/workqueue/rules/outcome.ts';
import type { Claim } from '#shared/workqueue/take.ts';

export interface ClustersetRun {
  readonly deps: SyncDeps;
  readonly cluster: ClusterRecord;
  readonly namespace: string;
  /** Name of the export or import. */
  readonly name: string;
  readonly claim: Pick<Claim, 'item' | 'message'>;
  /**
   * The API of the run's own cluster. Throws RequeueAfter while its circuit is open: what needs no API comes
   * first.
   */
  readonly api: () => Promise<ClusterApi>;
  /** The API of another cluster, to be read from, with the time limit of its calls. */
  readonly apiOf: (other: string, within: keyof TimeLeft) => Promise<ClusterApi>;
  /**
   * Returns true if the API server refuses one object and serves the cluster otherwise. Refusals are by
   * rights, admission or validation, or a 5xx or no answer, as behind a webhook that is down. False in a
   * namespace that is being deleted.
   */
  readonly isRefused: (error: unknown) => Promise<boolean>;
  /** Findings of an import's run. import-report-record.ts saves them at its end. */
  readonly found: ImportFindings;
  /** The API server's refusals, as an import's run collects them. */
  readonly refusals: string[];
  /** Parts that the import lacks, though it is ready. */
  readonly notes: string[];
  /** `StartedRun.latencyFromMs`: the latency of an import counts from the change of its export. */
  readonly latencyFromMs: number | undefined;
  /** Counted by the run as it goes. */
  readonly written: { slices: number };
}

/** The name of the run in its set. */
export const keyInSet = ({ cluster, namespace, name }: ClustersetRun): SetKey => ({
  set: membershipOf(cluster).set,
  namespace,
  name,
});

/**
 * Requeues with a growing wait. The cluster's administrator has to apply the relay's manifest, and the hub
 * gets no event for that.
 */
export function refusedByCluster(
  { deps, cluster, namespace, name, claim }: ClustersetRun,
  what: string,
): RequeueOutcome {
  deps.log.warn('cluster refuses a write of an export or import', {
    cluster: cluster.id,
    namespace,
    service: name,
    reason: what,
  });
  return requeue(deps, 'setPending', {
    reason: `refused by the cluster: ${what}`,
    rounds: claim.message.requeues,
  });
}

export type ImportFindings = { -readonly [F in keyof ImportReport]?: ImportReport[F] } & {
  /** The run has deleted the import, and its slices go with it. */
  isRemoved?: boolean;
};
