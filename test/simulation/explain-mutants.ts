/** Deliberate bugs of the records that `explain --at` goes by. */
import type { HistoryRecord } from '#shared/history/history-record.ts';
import { decodeRecords, encodeRecords } from '#shared/history/text.ts';
import { pack, unpack } from '#shared/store/history-chunks.ts';
import type { Table } from '#shared/store/table.ts';
import type { Mutant } from './mutant.ts';
import { beside } from './opt-in/draw.ts';

export const explainMutants: readonly Mutant[] = [
  {
    name: 'no record says that a Service went back to the built-in controllers',
    seeds: [44, 45, 42],
    profile: beside,
    table: withRecords((record) => ({ ...record, ...(record.writer && { writer: 'opt-in' }) })),
  },
  {
    name: 'no record says that outputs were found otherwise than the hub had left them',
    seeds: [233, 89, 253],
    table: withRecords(({ foundOtherwise: _, ...record }) => record),
  },
];

function withRecords(change: (record: HistoryRecord) => HistoryRecord): NonNullable<Mutant['table']> {
  const changed = (packed: unknown): Uint8Array => pack(encodeRecords((decodeRecords(unpack(packed as Uint8Array) ?? '') ?? []).map(change)));
  return (table): Table => ({
    ...table,
    put: (item, condition) => table.put(item['r'] instanceof Uint8Array ? { ...item, r: changed(item['r']) } : item, condition),
    update: (key, { set = {}, ...more }, condition) =>
      table.update(key, { ...more, set: { ...set, ...(set['h'] instanceof Uint8Array && { h: changed(set['h']) }) } }, condition),
  });
}
