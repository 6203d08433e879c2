/** The door of services across clusters (docs/use/clusterset.md): their part of a local run. */

import { localSet } from '#infra/clusterset/local/clusterset-options.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { Table } from '#shared/store/table.ts';
import type { Connections } from './clusters/connection-files.ts';
import type { SetOptions, TypedSetOptions } from './set-options.ts';

export interface LocalPart {
  /** `embedded` is the number of embedded clusters: 0 with a kubeconfig. */
  readonly checked: (typed: TypedSetOptions, embedded: number) => SetOptions;
  /** Returns a line for each part that the demonstration leaves out. */
  readonly leftOut: (options: {
    readonly clusters: number;
    readonly clusterset: SetOptions;
  }) => readonly string[];
  /** Sets the switches of a cluster. `podCidrs` are its pod ranges, if they are known. */
  readonly follow: (
    table: Table,
    known: ClusterRecord,
    options: SetOptions,
    podCidrs: readonly string[] | undefined,
  ) => Promise<void>;
  /** Prints what changes until the signal aborts. */
  readonly report: (options: {
    readonly connections: Connections;
    readonly print: (line: string) => void;
    readonly signal: AbortSignal;
  }) => Promise<void>;
}

export const localParts: readonly LocalPart[] = [localSet];
