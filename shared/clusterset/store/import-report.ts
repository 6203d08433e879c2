/** Problems that an import's last run in its cluster found, for explain, the console and its next run. */

import type { WrittenSource } from '#shared/clusterset/imports/written-sources.ts';
import type { ObjectName } from '#shared/store/inputs/object-keys.ts';
import { importReportKey, importReportsOf, nameOfPair, type ServiceKey } from '#shared/store/keys.ts';
import { type Item, jsonIn, numberOf, type Table } from '#shared/store/table.ts';

export interface ImportReport {
  /**
   * Kind of an object of another owner that has the name of the ServiceImport or of the derived Service, so
   * the run did not write.
   */
  readonly inTheWay?: 'ServiceImport' | 'Service' | undefined;
  /** Another reason why the import is not ready, which its status has too. */
  readonly notReady?: string | undefined;
  /** The first left-out addresses as text, and their total number. */
  readonly leftOut?: readonly string[] | undefined;
  readonly leftOutCount?: number | undefined;
  /** Number of left-out addresses that another source has on the same port. */
  readonly collisions?: number | undefined;
  /** Sources that would be evicted, but other sources are not ready for each port that they serve. */
  readonly held?: readonly string[] | undefined;
  /** Sources whose slices stay because the Pods of their exports are too large. */
  readonly unread?: readonly string[] | undefined;
  /**
   * Sources whose pods in the snapshot differ from their API's, or whose API did not answer the mass-removal
   * guard. A retry asks these again.
   */
  readonly doubted?: readonly string[] | undefined;
  /** Clusters of the import whose exports the hub does not know: the import stays as it is. */
  readonly unknown?: readonly string[] | undefined;
  /** Writes that the cluster refused, with its words. */
  readonly refusals?: readonly string[] | undefined;
  /** Why the endpoints have hints or none, by family. Undefined: no export asks for a locality. */
  readonly hinted?: { readonly [family: string]: string } | undefined;
  /** What the slices have of each source. A run that writes none leaves that of the run before. */
  readonly written?: readonly WrittenSource[] | undefined;
  /** With `imports: shadow`: the writes that would be made, or the objects that would prevent them. */
  readonly preview?: readonly string[] | undefined;
}

export interface StoredImportReport {
  readonly report: ImportReport;
  /** Start of this report's validity, ms since the epoch. */
  readonly sinceMs: number;
}

const text = 'r';

export async function readImportReport(
  table: Table,
  key: ServiceKey,
): Promise<StoredImportReport | undefined> {
  const item = await table.get(importReportKey(key));
  return item && reportIn(item);
}

/** A damaged report counts as an empty one, and the next run replaces it. */
function reportIn(item: Item): StoredImportReport {
  const sinceMs = numberOf(item, 'since');
  try {
    return { report: jsonIn<ImportReport>(item, text) ?? {}, sinceMs };
  } catch {
    return { report: {}, sinceMs };
  }
}

/**
 * Only the run of the import calls this, under its lease. An equal report is not written again, and an empty
 * report is deleted. `keepsWritten`: the run has left the slices as they were.
 */
export async function saveImportReport(
  table: Table,
  key: ServiceKey,
  found: ImportReport,
  { nowMs, keepsWritten = false }: { readonly nowMs: number; readonly keepsWritten?: boolean },
): Promise<void> {
  const at = importReportKey(key);
  const before = await table.get(at);
  const written = keepsWritten && before ? reportIn(before).report.written : found.written;
  const report: ImportReport = { ...found, written };
  const next = Object.values(report).some((value) => value !== undefined)
    ? JSON.stringify(report)
    : undefined;
  if (next === before?.[text]) return;
  if (next === undefined) await table.delete(at);
  else await table.put({ ...at, [text]: next, since: nowMs });
}

export interface ListedImportReport extends StoredImportReport, ObjectName {}

/** Returns the reports of all imports of the cluster. */
export async function listImportReports(
  table: Table,
  cluster: string,
): Promise<readonly ListedImportReport[]> {
  return (await table.query(importReportsOf(cluster))).map((item) => ({
    ...nameOfPair(item.sk),
    ...reportIn(item),
  }));
}
