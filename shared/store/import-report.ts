/** Findings of an import's last run in its cluster, unless all is well. Explain and console read them, and no run does. */
import { importReportKey, importReportsOf, nameOfPair } from './keys.ts';
import type { Table } from './table.ts';

export interface ImportReport {
  /** Nothing was written, for an object that the hub did not make has the name of the ServiceImport or of the derived Service. */
  readonly inTheWay?: 'ServiceImport' | 'Service' | undefined;
  /** Why the import is not ready otherwise, as its status says too. */
  readonly notReady?: string | undefined;
  /** Addresses that were left out, as text: the first of them, and how many there are. */
  readonly leftOut?: readonly string[] | undefined;
  readonly leftOutCount?: number | undefined;
  /** Of those the ones that another source has on the same port. */
  readonly collisions?: number | undefined;
  /** Sources that would be evicted, but no other source has a ready endpoint. */
  readonly held?: readonly string[] | undefined;
  /** Sources whose slices stay, because the Pods of the namespace there have more bytes than a run reads. */
  readonly unread?: readonly string[] | undefined;
  /** `imports: shadow`: what would be written, or would be in the way of it. */
  readonly preview?: readonly string[] | undefined;
}

/** The import of a name in one cluster. */
export interface ImportKey {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

export interface StoredImportReport {
  readonly report: ImportReport;
  /** Since when it says this, ms since the epoch. */
  readonly sinceMs: number;
}

const text = 'r';

export async function readImportReport(table: Table, { cluster, namespace, name }: ImportKey): Promise<StoredImportReport | undefined> {
  const item = await table.get(importReportKey(cluster, namespace, name));
  return item && { report: JSON.parse(item[text] as string) as ImportReport, sinceMs: item['since'] as number };
}

/** By the run of the import alone, under its lease. A report that says the same stays as it is; one that says nothing goes. */
export async function saveImportReport(table: Table, key: ImportKey, report: ImportReport, nowMs: number): Promise<void> {
  const at = importReportKey(key.cluster, key.namespace, key.name);
  const before = (await table.get(at))?.[text];
  const next = Object.values(report).some((value) => value !== undefined) ? JSON.stringify(report) : undefined;
  if (next === before) return;
  if (next === undefined) await table.delete(at);
  else await table.put({ ...at, [text]: next, since: nowMs });
}

export interface ListedImportReport extends StoredImportReport {
  readonly namespace: string;
  readonly name: string;
}

/** Of all imports of the cluster. */
export async function listImportReports(table: Table, cluster: string): Promise<readonly ListedImportReport[]> {
  return (await table.query(importReportsOf(cluster))).map((item) => {
    return { ...nameOfPair(item.sk), report: JSON.parse(item[text] as string) as ImportReport, sinceMs: item['since'] as number };
  });
}
