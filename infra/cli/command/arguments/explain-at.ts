/** `explain --at`: the addresses of a service at a past time. */

import { explainThen } from '#infra/cli/ask/explain-then.ts';
import { addressesData } from '#infra/cli/ask/history-data.ts';
import { ofPod, thenLines } from '#infra/cli/ask/history-text.ts';
import { type Line, linesAsData, type OutputFormat } from '#infra/cli/terminal/print-answer.ts';
import { timeMs } from '#infra/cli/terminal/when.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';

export interface AskedTime {
  /** As the user typed it. */
  readonly at: string;
  readonly nowMs: number;
  readonly pod: string | undefined;
  readonly format: OutputFormat | undefined;
}

/** Throws a UsageError for a time that the history cannot answer. */
export async function addressLines(
  table: Table,
  key: ServiceKey,
  { at, nowMs, pod, format }: AskedTime,
): Promise<readonly Line[]> {
  const then = ofPod(await explainThen(table, key, timeMs('--at', at, nowMs), nowMs), pod);
  if (format === 'json' || format === 'yaml') return linesAsData(addressesData(key, then), format);
  if (format === 'name') return [...new Set(then.addresses.flatMap((a) => (a.pod ? [`pod/${a.pod}`] : [])))];
  return thenLines(then, `${key.cluster} ${key.namespace}/${key.name}`);
}
