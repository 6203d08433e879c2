/** Who switched what of a cluster, when and why: kept beside its record, also when the cluster has left. */
import type { OptIn } from '#shared/opt-in/writer.ts';
import { auditCounterKey, auditKey } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';
import type { Mode } from './mode.ts';

/** `at`: ISO 8601, by the clock of who switched. The order of the records is that of their numbers. */
export interface AuditRecord {
  readonly at: string;
  readonly who: string;
  readonly what: string;
  /** Present in the record of a switch of mode. */
  readonly mode?: Change<Mode>;
  /** Present in the record of the switch for Services that opt in. */
  readonly optIn?: Change<OptIn>;
}

interface Change<V> {
  readonly from: V;
  readonly to: V;
}

/** Clocks of two machines differ by more than two switches may lie apart, so the table gives each record a number. */
export async function recordAudit(table: Table, cluster: string, { at, who, what, mode, optIn }: AuditRecord): Promise<void> {
  const counted = await table.update(auditCounterKey(cluster), { add: { [count]: 1 } });
  const changed = { ...(mode && { [modeChange]: JSON.stringify(mode) }), ...(optIn && { [optInChange]: JSON.stringify(optIn) }) };
  await table.put({ ...auditKey(cluster, counted?.[count] as number), at, who, what, ...changed });
}

/** In the order in which they were recorded. */
export async function listAudit(table: Table, cluster: string): Promise<readonly AuditRecord[]> {
  const { pk, sk } = auditCounterKey(cluster);
  return (await table.query(pk, { from: sk, to: `${sk}~` })).map(decodeAudit);
}

const count = 'count';
const modeChange = 'mode';
const optInChange = 'optIn';

function decodeAudit(item: Item): AuditRecord {
  const text = (attribute: string): string => (item[attribute] as string | undefined) ?? '';
  const change = <V>(attribute: string): Change<V> => JSON.parse(text(attribute)) as Change<V>;
  return {
    at: text('at'),
    who: text('who'),
    what: text('what'),
    ...(text(modeChange) && { mode: change<Mode>(modeChange) }),
    ...(text(optInChange) && { optIn: change<OptIn>(optInChange) }),
  };
}
