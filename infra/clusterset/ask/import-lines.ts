/**
 * `cluster imports CLUSTER`: each import whose last run left a report, and in shadow mode the planned writes.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { unreadText } from '#shared/clusterset/imports/left-out.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import {
  type ImportReport,
  type ListedImportReport,
  listImportReports,
} from '#shared/clusterset/store/import-report.ts';
import type { Table } from '#shared/store/table.ts';

export async function importLines(
  table: Table,
  cluster: Pick<ClusterRecord, 'id' | 'clusterset'>,
): Promise<readonly string[]> {
  const reports = await listImportReports(table, cluster.id);
  const previews = reports.filter((r) => r.report.preview !== undefined).length;
  const counted = `    ${previews} ${previews === 1 ? 'import' : 'imports'} would be written or refused:`;
  return [...(membershipOf(cluster).imports === 'shadow' ? [counted] : []), ...reports.flatMap(linesOf)];
}

function linesOf({ namespace, name, report }: ListedImportReport): readonly string[] {
  const lines = said(report);
  return lines.length === 0 ? [] : [`  ${namespace}/${name}`, ...lines.map((line) => `      ${line}`)];
}

/** A preview has all of it in its own lines. */
function said({
  preview,
  inTheWay,
  notReady,
  leftOut = [],
  leftOutCount = 0,
  held = [],
  unread = [],
  refusals = [],
}: ImportReport): readonly string[] {
  if (preview) return preview;
  const more = leftOutCount - leftOut.length;
  return [
    ...(inTheWay ? [`refused: a ${inTheWay} of another owner has the name`] : []),
    ...(notReady ? [`not ready: ${notReady}`] : []),
    ...refusals.map((text) => `refused: ${text}`),
    ...leftOut.map((text) => `left out: ${text}`),
    ...(more > 0 ? [`left out: ${more} more`] : []),
    ...unread.map(unreadText),
    ...held.map(
      (source) =>
        `the eviction of ${source} is held: other sources are not ready for each port that it serves`,
    ),
  ];
}
