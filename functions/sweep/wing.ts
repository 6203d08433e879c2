/** The door of services across clusters (docs/use/clusterset.md): the steps of a run for them. */

import { sweepForSet } from '#functions/clusterset/sweep/sweep-for-set.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { SweepDeps } from './sweep-deps.ts';
import type { SweepRun } from './sweep-run.ts';

export interface Reported {
  /** Registered clusters, including clusters whose report failed. */
  readonly records: readonly ClusterRecord[];
  /** False: not every record could be read. */
  readonly isWhole: boolean;
  /** Resolves after the run has sent its own lists, which take much memory. */
  readonly ownListsSent: Promise<unknown>;
}

export interface SweepPart {
  /** Throws if the record cannot be read: this run then leaves the cluster out. */
  readonly check: (cluster: ClusterRecord) => void;
  /** Steps beside those of the clusters' own services. */
  readonly steps: (run: SweepRun, reported: Reported) => Promise<unknown>;
  /** Returns true for a cluster whose rights to write imports are to be checked. */
  readonly mayImport: (cluster: ClusterRecord) => boolean;
  /** Called before a cluster's records are purged. Resolves to false if the next run has to continue. */
  readonly leave: (deps: SweepDeps, cluster: ClusterRecord) => Promise<boolean>;
}

export const sweepParts: readonly SweepPart[] = [sweepForSet];
