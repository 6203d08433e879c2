/** Readers without a lease find here what sync wrote for a Service. */
import type { ServiceKey } from '#shared/store/keys.ts';
import { decodeDeltas } from '#shared/store/outputs/deltas.ts';
import { type OutputRecord, readOutputs } from '#shared/store/outputs/outputs.ts';
import type { Table } from '#shared/store/table.ts';
import { readWork } from './item-store.ts';

/** Reads the work item before the bodies (`savedOutputs`). */
export async function readWrittenOutputs(
  table: Table,
  service: ServiceKey,
): Promise<readonly OutputRecord[]> {
  const { deltas } = await readWork(table, { ...service, kind: 'service' });
  return readOutputs(table, service, decodeDeltas(deltas));
}
