/** Deliberate bugs of the records that `explain --at` uses. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { HistoryRecord } from '#shared/history/history-record.ts';
import { decodeRecord, encodeRecord } from '#shared/history/text.ts';
import type { Table } from '#shared/store/table.ts';
import type { Mutant } from './mutant.ts';
import { beside } from './opt-in/draw.ts';

export const explainMutants: readonly Mutant[] = [
  {
    name: 'no record shows a Service that returned to the built-in controllers',
    seeds: [218, 298, 55],
    profile: beside,
    table: withRecords((record) => ({ ...record, ...(record.writer && { writer: 'opt-in' }) })),
  },
  {
    name: 'no record shows that another client changed an output',
    seeds: [238, 72, 139],
    table: withRecords(({ foundOtherwise: _, ...record }) => record),
  },
];

function withRecords(change: (record: HistoryRecord) => HistoryRecord): NonNullable<Mutant['table']> {
  const changed = (deflated: Uint8Array): Uint8Array => {
    const record = decodeRecord(inflateRawSync(deflated).toString());
    return record ? deflateRawSync(encodeRecord(change(record), Number.POSITIVE_INFINITY)) : deflated;
  };
  return (table): Table => ({
    ...table,
    put: (item, condition) => table.put(item['r'] instanceof Uint8Array ? { ...item, r: changed(item['r']) } : item, condition),
  });
}
