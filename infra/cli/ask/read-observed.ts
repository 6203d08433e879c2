/** The history of endpoints that the hub does not write, as the table holds it (shadow mode). */
import {
  type AskedObserved,
  type ObservedOutput,
  observedThen,
} from '#infra/cli/ask/history/observed-then.ts';
import type { Then } from '#infra/cli/ask/history/then.ts';
import { addressesOf } from '#shared/controllers/history/addresses.ts';
import type { ObservedRecord } from '#shared/controllers/history/observed-record.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { readObservedTexts } from '#shared/store/outputs/observed-records.ts';
import { readOutputs } from '#shared/store/outputs/outputs.ts';
import type { Table } from '#shared/store/table.ts';

/** Returns undefined if no state of the Service's outputs is on record. */
export async function explainObserved(
  table: Table,
  key: ServiceKey,
  { atMs, keptSinceMs, switchedAtMs }: AskedObserved,
): Promise<Then | undefined> {
  // Records are written before the states are saved: one that is newer than its output is not applied yet.
  const saved = await readOutputs(table, key, 'observed');
  const records = await readObserved(table, key, mostObserved);
  const ofOutput = Map.groupBy(records, ({ output }) => `${output.kind} ${output.name}`);
  const outputs = saved.map(({ kind, name, object, isMetadataOnly, observed }): ObservedOutput => {
    const of = ofOutput.get(`${kind} ${name}`) ?? [];
    return {
      name: kind === 'Endpoints' ? 'Endpoints' : `EndpointSlice ${name}`,
      now: isMetadataOnly ? undefined : addressesOf(object ? [object] : []),
      sinceMs: observed?.sinceMs,
      records: of,
    };
  });
  if (!outputs.some(({ sinceMs, records: of }) => sinceMs !== undefined || of.length > 0)) return undefined;
  const isCut = records.length === mostObserved;
  return observedThen(outputs, {
    ...{ atMs, switchedAtMs },
    keptSinceMs: isCut ? (records[0] as ObservedRecord).atMs : keptSinceMs,
  });
}

/** Records of other clients' writes that an answer reads. */
export const mostObserved = 5_000;

/** Oldest first. */
export async function readObserved(
  table: Table,
  key: ServiceKey,
  atMost: number,
): Promise<readonly ObservedRecord[]> {
  const texts = await readObservedTexts(table, key, atMost);
  return texts.map((text) => JSON.parse(text) as ObservedRecord).reverse();
}
