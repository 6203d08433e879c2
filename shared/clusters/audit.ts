/**
 * Audit records of a cluster's switches. They are kept beside the cluster's record, even after the cluster is
 * removed.
 */
import type { OptIn } from '#shared/controllers/opt-in/writer.ts';
import { auditCounterKey, auditKey } from '#shared/store/keys.ts';
import { type Item, jsonIn, numberOf, type Table, textIn } from '#shared/store/table.ts';
import type { Mode } from './writer/mode.ts';

/** `at` is ISO 8601 by the clock of the operator's machine. The numbers of the records give their order. */
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

/**
 * The table numbers the records, because the clocks of two machines may differ by more than the time between
 * two switches.
 */
export async function recordAudit(
  table: Table,
  cluster: string,
  { at, who, what, mode, optIn }: AuditRecord,
): Promise<void> {
  const counted = await table.update(auditCounterKey(cluster), { add: { [count]: 1 } });
  const changed = {
    ...(mode && { [modeChange]: JSON.stringify(mode) }),
    ...(optIn && { [optInChange]: JSON.stringify(optIn) }),
  };
  await table.put({ ...auditKey(cluster, numberOf(counted, count)), at, who, what, ...changed });
}

/** Returns the records in the order in which they were written. */
export async function listAudit(table: Table, cluster: string): Promise<readonly AuditRecord[]> {
  const { pk, sk } = auditCounterKey(cluster);
  return (await table.query(pk, { from: sk, to: `${sk}~` })).map(decodeAudit);
}

const count = 'count';
const modeChange = 'mode';
const optInChange = 'optIn';

function decodeAudit(item: Item): AuditRecord {
  const mode = jsonIn<Change<Mode>>(item, modeChange);
  const optIn = jsonIn<Change<OptIn>>(item, optInChange);
  return {
    at: textIn(item, 'at') ?? '',
    who: textIn(item, 'who') ?? '',
    what: textIn(item, 'what') ?? '',
    ...(mode && { mode }),
    ...(optIn && { optIn }),
  };
}
