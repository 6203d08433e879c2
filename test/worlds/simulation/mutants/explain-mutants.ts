/** Deliberate bugs of what `explain` and `explain --at` are told from. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { HistoryRecord } from '#shared/controllers/history/history-record.ts';
import { decodeRecord, encodeRecord } from '#shared/controllers/history/text.ts';
import type { Table } from '#shared/store/table.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';
import { beside } from '#test/worlds/simulation/opt-in/draw.ts';
import type { Mutant } from './mutant.ts';

/** Long times without a fault, about which explain has no caveat. */
const undisturbed: Partial<Profile> = {
  ...{ crashes: 0, pauses: 0, slow: 0, refusals: 0, apiFailures: 0, outageMs: 0 },
  ...{ goesBack: 'never', modeSwitches: 0, foreignEdits: 0 },
};

export const explainMutants: readonly Mutant[] = [
  {
    name: 'no record shows a Service that returned to the built-in controllers',
    mechanism: 'record of each run',
    seeds: [265, 175, 240],
    profile: { ...beside, ...undisturbed, optInChanges: 14, changes: 4, faultsUntilMs: 150_000 },
    table: withRecords((record) => ({ ...record, ...(record.writer && { writer: 'opt-in' }) })),
  },
  {
    name: 'no record shows that another client changed an output',
    mechanism: 'record of each run',
    seeds: [5, 15, 18],
    profile: {
      ...undisturbed,
      ...{ namespaces: 1, services: 3, pods: 4, foreignEdits: 6, changes: 6, faultsUntilMs: 120_000 },
      ...{ duplicates: 0, relayKills: 0, lies: 'never', webhook: false },
    },
    table: withRecords(({ foundOtherwise: _, ...record }) => record),
  },
  {
    name: 'ingest keeps no heartbeat after the first',
    mechanism: 'explain tells what is served',
    seeds: [2, 3, 5],
    profile: { ...undisturbed, changes: 4, relayKills: 0, faultsUntilMs: 90_000 },
    table: (table) => ({
      ...table,
      update: async (key, change, condition) => {
        const { heartbeatAt, ...set } = change.set ?? {};
        const isLater = heartbeatAt !== undefined && (await table.get(key))?.['heartbeatAt'] !== undefined;
        return table.update(key, isLater ? { ...change, set } : change, condition);
      },
    }),
  },
  {
    name: 'ingest keeps the first state alone of what the built-in controllers wrote',
    mechanism: 'explain tells what is served',
    seeds: [1, 2, 3],
    profile: { ...beside, ...undisturbed, optInChanges: 0, changes: 10, faultsUntilMs: 60_000 },
    table: (table) => ({
      ...table,
      put: async (item, condition) =>
        item.pk.includes('#SEEN#') && item.sk.startsWith('slice#') && (await table.get(item))
          ? true
          : table.put(item, condition),
    }),
  },
];

function withRecords(change: (record: HistoryRecord) => HistoryRecord): NonNullable<Mutant['table']> {
  const changed = (deflated: Uint8Array): Uint8Array => {
    const record = decodeRecord(inflateRawSync(deflated).toString());
    return record ? deflateRawSync(encodeRecord(change(record), Number.POSITIVE_INFINITY)) : deflated;
  };
  return (table): Table => ({
    ...table,
    put: (item, condition) =>
      table.put(item['r'] instanceof Uint8Array ? { ...item, r: changed(item['r']) } : item, condition),
  });
}
