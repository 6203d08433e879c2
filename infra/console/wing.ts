/** The door of services across clusters (docs/use/clusterset.md): what the console's API says about them. */

import { consoleOfSet } from '#infra/clusterset/console/clusterset-console.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { Table } from '#shared/store/table.ts';

export interface ConsolePart {
  readonly path: string;
  readonly answer: (table: Table, now: number) => Promise<unknown>;
  /** The switches of a cluster, beside those of the mode and opt-in. */
  readonly switches: (cluster: ClusterRecord) => readonly string[];
}

export const consoleParts: readonly ConsolePart[] = [consoleOfSet];
