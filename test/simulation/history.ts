/** The history of each service against what is saved of it. */
import { addressesOf } from '#shared/history/addresses.ts';
import { type HistoryRecord, identityOf } from '#shared/history/history-record.ts';
import { decodeRecords } from '#shared/history/text.ts';
import { newestChanges } from '#shared/history/then.ts';
import { readChunks, unpack } from '#shared/store/history-chunks.ts';
import { parseWorkKey } from '#shared/store/keys.ts';
import { readOutputs } from '#shared/store/outputs.ts';
import type { Item, Table } from '#shared/store/table.ts';

/** `items`: all of the table. What the records say an address is now has to be what is saved. */
export async function historyErrors(table: Table, items: readonly Item[]): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { pk, h } of items) {
    if (!pk.includes('#WORK#')) continue;
    const { cluster, namespace, service: name } = parseWorkKey(pk);
    const key = { cluster, namespace, name };
    const packed = [...(await readChunks(table, key, 0)), ...(h instanceof Uint8Array ? [h] : [])];
    const lists = packed.map((bytes) => decodeRecords(unpack(bytes) ?? ''));
    if (lists.includes(undefined)) wrong.push(`${namespace}/${name}: records cannot be read`);
    const saved = (await readOutputs(table, key)).flatMap(({ object }) => (object ? [object] : []));
    wrong.push(...disagreements(inOrder(lists), addressesOf(saved)).map((text) => `${namespace}/${name}: ${text}`));
  }
  return wrong;
}

const inOrder = (lists: readonly (readonly HistoryRecord[] | undefined)[]): readonly HistoryRecord[] => {
  const records = new Map(lists.flatMap((list) => (list ?? []).map((r) => [identityOf(r), r] as const)));
  return [...records.values()].sort((a, b) => a.atMs - b.atMs);
};

/**
 * After a gap, and after a record that does not name all pods, records say nothing of what they do not name. What a run changed that the table did not
 * save, as after a restore, later records do not go on from (docs/decisions/0017).
 */
function disagreements(records: readonly HistoryRecord[], saved: ReturnType<typeof addressesOf>): readonly string[] {
  const lastGap = records.findLastIndex((r) => r.gap !== undefined || r.more > 0 || r.isUnsaved);
  const changes = newestChanges(records.slice(lastGap + 1));
  const named = [...changes].flatMap(([key, { to }]) => {
    const state = saved.get(key)?.state;
    return state === to ? [] : [`${key} is saved as ${state ?? 'absent'}, and the newest record says ${to ?? 'absent'}`];
  });
  const unnamed =
    lastGap < 0 ? [...saved.keys()].filter((key) => !changes.has(key)).map((key) => `${key} is saved, and no record says that it came`) : [];
  return [...named, ...unnamed];
}
