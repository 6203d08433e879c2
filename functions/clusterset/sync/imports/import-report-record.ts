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

/** The first words of each refusal. */
const maxRefusals = 5;
const maxRefusalLength = 300;

export function reportOf({
  leftOut,
  held,
  hinted,
}: Pick<ImportedSlicesPlan, 'leftOut' | 'held' | 'hinted'>): ImportReport {
  return {
    ...(leftOut.length > 0 && {
      leftOut: leftOut.slice(0, maxLeftOut).map(leftOutText),
      leftOutCount: leftOut.length,
      collisions: leftOut.filter(({ reason }) => reason.kind === 'collision').length,
    }),
    ...(held.length > 0 && { held }),
    ...(hinted && { hinted: Object.fromEntries(hinted) }),
  };
}

export const saveReport = ({
  deps,
  cluster,
  namespace,
  name,
  found,
  refusals,
}: ClustersetRun): Promise<void> => {
  const refused = refusals.slice(0, maxRefusals).map((text) => text.slice(0, maxRefusalLength));
  const { isRemoved, ...report } = found;
  return saveImportReport(
    deps.table,
    { cluster: cluster.id, namespace, name },
    { ...report, ...(refused.length > 0 && { refusals: refused }) },
    { nowMs: deps.now(), keepsWritten: report.written === undefined && !isRemoved },
  );
};

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
