/** The console's answer about services across clusters. */
import type { ImporterState, SourceStateName } from '#infra/cli/ask/explain/explanation.ts';

/** The exports and imports of the hub's clusters. */
export interface ClustersetAnswer {
  readonly members: readonly MemberRow[];
  /** Half of the set is silent, so sweep evicts no cluster. */
  readonly isHalfSilent: boolean;
  readonly services: readonly SetServiceRow[];
}

/** A cluster that exports or imports. */
export interface MemberRow {
  readonly cluster: string;
  readonly set: string;
  /** The namespaces that the cluster may export. */
  readonly exports: string;
  readonly imports: string;
  /** The state of the cluster as a source of imports. */
  readonly state: SourceStateName;
  readonly why: string;
  /** Numbers of valid and of invalid exports. */
  readonly exported: number;
  readonly refused: number;
  readonly imported: number;
  readonly pending: number;
  /** Number of imports that an object of another owner prevents. */
  readonly inTheWay: number;
  /** Sums over all imports of the cluster. */
  readonly leftOut: number;
  readonly collisions: number;
  readonly held: number;
}

/** A name that some cluster of a set exports. */
export interface SetServiceRow {
  readonly set: string;
  readonly namespace: string;
  readonly name: string;
  /** Sources in the order of precedence, then the invalid exports. */
  readonly sources: readonly StateOfCluster<SourceStateName | 'not valid'>[];
  readonly importers: readonly StateOfCluster<ImporterState>[];
  /** Sentences about the problems of the name. */
  readonly remarks: readonly string[];
}

export interface StateOfCluster<State extends string> {
  readonly cluster: string;
  readonly state: State;
  readonly why: string;
}
