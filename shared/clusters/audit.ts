/** Who switched what of a cluster, when and why: kept beside its record, also when the cluster has left. */
import { auditKey, metaKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';

/** `at`: ISO 8601. */
export interface AuditRecord {
  readonly at: string;
  readonly who: string;
  readonly what: string;
}

/** Two of one moment (the hub's clock may have whole seconds) are both kept: the second one a millisecond later. */
export async function recordAudit(table: Table, cluster: string, { at, who, what }: AuditRecord): Promise<void> {
  for (let ms = Date.parse(at); ; ms++) {
    if (await table.put({ ...auditKey(cluster, new Date(ms).toISOString()), who, what }, { absent: 'who' })) return;
  }
}

export async function listAudit(table: Table, cluster: string): Promise<readonly AuditRecord[]> {
  const items = await table.query(metaKey(cluster).pk, { from: 'AUDIT#', to: 'AUDIT#~' });
  return items.map((i) => ({ at: i.sk.slice('AUDIT#'.length), who: i['who'] as string, what: i['what'] as string }));
}
