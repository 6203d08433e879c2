/**
 * The findings of an import's run, for explain, the console and the next run. A run saves only changed
 * findings.
 */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import { isRetry } from '#functions/sync/state/run.ts';
import type { ImportedSlicesPlan } from '#shared/clusterset/imports/imported-slices.ts';
import { leftOutText } from '#shared/clusterset/imports/left-out.ts';
import {
  type ImportReport,
  readImportReport,
  saveImportReport,
} from '#shared/clusterset/store/import-report.ts';

/** Limit of listed addresses. One item has room for them. */
const maxLeftOut = 20;

export function reportOf({ leftOut, held }: Pick<ImportedSlicesPlan, 'leftOut' | 'held'>): ImportReport {
  return {
    ...(leftOut.length > 0 && {
      leftOut: leftOut.slice(0, maxLeftOut).map(leftOutText),
      leftOutCount: leftOut.length,
      collisions: leftOut.filter(({ reason }) => reason.kind === 'collision').length,
    }),
    ...(held.length > 0 && { held }),
  };
}

export const saveReport = ({ deps, cluster, namespace, name, found }: ClustersetRun): Promise<void> =>
  saveImportReport(deps.table, { cluster: cluster.id, namespace, name }, found, deps.now());

/**
 * Resolves to the sources that the mass-removal guard doubted in the run before a retry. Other runs read
 * nothing.
 */
export async function doubtedBefore({
  deps,
  cluster,
  namespace,
  name,
  claim,
}: ClustersetRun): Promise<readonly string[]> {
  if (!isRetry({ work: claim.item }, 'import')) return [];
  return (await readImportReport(deps.table, { cluster: cluster.id, namespace, name }))?.report.doubted ?? [];
}
