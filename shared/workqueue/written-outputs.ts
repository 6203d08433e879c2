/** What sync wrote for a Service, for readers without a lease. */

import type { ServiceKey } from '#shared/store/keys.ts';
import { decodeDeltas, type OutputDeltas } from '#shared/store/outputs/deltas.ts';
import { type OutputRecord, readOutputs } from '#shared/store/outputs/outputs.ts';
import type { Table } from '#shared/store/table.ts';
import { readWork } from './item-store.ts';

/** Read them before the bodies (`savedOutputs`). */
export const readDeltas = async (table: Table, service: ServiceKey): Promise<OutputDeltas> =>
  decodeDeltas((await readWork(table, { ...service, kind: 'service' })).deltas);

export const readWrittenOutputs = async (
  table: Table,
  service: ServiceKey,
): Promise<readonly OutputRecord[]> => readOutputs(table, service, await readDeltas(table, service));
