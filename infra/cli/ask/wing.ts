/** The door of services across clusters (docs/use/clusterset.md): answers about them. */
import type { Fact } from '#infra/cli/ask/explain/explanation.ts';
import type { ExplainedSet } from '#infra/cli/ask/explain/input.ts';
import { answersOfSet } from '#infra/clusterset/ask/clusterset-answers.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';

/** The membership of a cluster in a set, for the list of clusters. */
export interface ListedMembership {
  readonly name: string;
  readonly imports: string;
  readonly exports: string;
}

export interface AskPart {
  /** Explains a name's exports and imports. Undefined without any. */
  readonly explain: (
    table: Table,
    cluster: ClusterRecord,
    key: ServiceKey,
    now: number,
  ) => Promise<ExplainedSet | undefined>;
  /** What there is of a name without a Service in the cluster. Undefined: nothing. */
  readonly unknown: (
    table: Table,
    cluster: ClusterRecord,
    key: ServiceKey,
    now: number,
  ) => Promise<string | undefined>;
  readonly facts: (cluster: ClusterRecord) => readonly Fact[];
  readonly listed: (cluster: ClusterRecord) => readonly ListedMembership[];
  /** Resolves to the Services, as "namespace/name", that opt in and that other clusters may import. */
  readonly exportedOptIns: (table: Table, cluster: ClusterRecord) => Promise<readonly string[]>;
}

export const askParts: readonly AskPart[] = [answersOfSet];
