/** The history of each service against what is saved of it. */
import { type Link, missingRecords } from '#infra/cli/ask/history/missing-records.ts';
import { newestChanges } from '#infra/cli/ask/history/then.ts';
import {
  type Addresses,
  addressesOf,
  inEndpoints,
  type Where,
} from '#shared/controllers/history/addresses.ts';
import type { HistoryRecord } from '#shared/controllers/history/history-record.ts';
import { decodeRecord } from '#shared/controllers/history/text.ts';
import { parseWorkKey } from '#shared/store/keys.ts';
import { decodeDeltas } from '#shared/store/outputs/deltas.ts';
import { recordsSince } from '#shared/store/outputs/history-records.ts';
import { readOutputs } from '#shared/store/outputs/outputs.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { decodeWork } from '#shared/workqueue/item-attributes.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';

/** A worker may die, or the table refuse a write or lose its answer, before a record is written. */
export const mayLoseRecords = ({
  crashes,
  pauses,
  stalls,
  hangs,
  slow,
  refusals,
  culprit,
}: Profile): boolean =>
  crashes + pauses + stalls + hangs + slow + refusals > 0 || culprit === 'items' || culprit === 'seldom';

/**
 * Returns how the records disagree with the saved outputs. `items`: all of the table. `mayLose`: a worker may
 * have died, or the table refused a write, before a record was written.
 */
export async function historyErrors(
  table: Table,
  items: readonly Item[],
  mayLose: boolean,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const item of items) {
    if (!item.pk.includes('#WORK#')) continue;
    const { cluster, namespace, name } = parseWorkKey(item.pk);
    const key = { cluster, namespace, name };
    const { newestRecord, deltas } = decodeWork(parseWorkKey(item.pk).kind, item);
    const records: (HistoryRecord & Link)[] = [];
    let unreadable = 0;
    for await (const { text = '', ...link } of recordsSince(table, key, 0)) {
      const record = decodeRecord(text);
      if (record) records.unshift({ ...record, ...link });
      else unreadable++;
    }
    const missing = missingRecords(newestRecord, records, 0);
    const outputs = await readOutputs(table, key, decodeDeltas(deltas));
    const saved = addressesOf(outputs.flatMap(({ object }) => (object ? [object] : [])));
    // The addresses of an output whose content is not saved are known to no later run.
    const isSaved = (where: Where): boolean =>
      !outputs.some((o) => o.isMetadataOnly && (o.kind === 'Endpoints') === (where === inEndpoints));
    const errors = [
      ...(unreadable > 0 ? ['records cannot be read'] : []),
      ...(missing.length > 0 && !mayLose ? [`records are missing: ${missing.join(', ')}`] : []),
      ...records
        .filter(({ id }) => id > (newestRecord ?? 0))
        .map(({ id }) => `the work item does not know the record ${id}`),
      ...disagreements(records, missing[0], { saved, isSaved }),
    ];
    wrong.push(...errors.map((text) => `${namespace}/${name}: ${text}`));
  }
  return wrong;
}

/**
 * Records do not describe the pods that they do not name after a gap, a missing record, or a record that
 * counts pods. Later records do not continue from changes that the table refused to save
 * (docs/develop/decisions/0017). `newestMissing`: its id.
 */
function disagreements(
  records: readonly (HistoryRecord & Link)[],
  newestMissing: number | undefined,
  { saved, isSaved }: { readonly saved: Addresses; readonly isSaved: (where: Where) => boolean },
): readonly string[] {
  const sinceMissing = records.filter(({ id }) => id > (newestMissing ?? 0));
  const lastGap = sinceMissing.findLastIndex((r) => r.gap !== undefined || r.more > 0 || r.isUnsaved);
  const changes = newestChanges(sinceMissing.slice(lastGap + 1));
  const named = [...changes].flatMap(([key, { to, where }]) => {
    const state = saved.get(key)?.state;
    return state === to || !isSaved(where)
      ? []
      : [`${key} is saved as ${state ?? 'absent'}, and the newest record says ${to ?? 'absent'}`];
  });
  const knowsAll = lastGap < 0 && newestMissing === undefined;
  const unnamed = knowsAll
    ? [...saved.keys()]
        .filter((key) => !changes.has(key))
        .map((key) => `${key} is saved, and no record says that it came`)
    : [];
  return [...named, ...unnamed];
}
