import type { Table } from './table.ts';

/** The table, and the cluster whose records are read and written. */
export interface ClusterStore {
  readonly table: Table;
  readonly cluster: string;
}
