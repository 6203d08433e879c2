/** Who switched what of a cluster, when and why: kept beside its record, also when the cluster has left. */
import { auditKey, metaKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';

/** `at`: ISO 8601. */
export interface AuditRecord {
  readonly at: string;
  readonly who: string;
  readonly what: string;
}

export async function recordAudit(table: Table, cluster: string, record: AuditRecord): Promise<void> {
  await table.put({ ...auditKey(cluster, record.at), who: record.who, what: record.what });
}

export async function listAudit(table: Table, cluster: string): Promise<readonly AuditRecord[]> {
  const items = await table.query(metaKey(cluster).pk, { from: 'AUDIT#', to: 'AUDIT#~' });
  return items.map((i) => ({ at: i.sk.slice('AUDIT#'.length), who: i['who'] as string, what: i['what'] as string }));
}
