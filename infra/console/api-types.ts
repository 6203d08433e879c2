/** The answers of the console's API, for server and page. */
import type { Dashboard } from '#infra/monitoring/dashboards.ts';
import type { ImporterState, SourceStateName } from '#shared/explain/explanation.ts';
import type { Told } from '#shared/history/sentences.ts';

export type { Told } from '#shared/history/sentences.ts';
export type { AddressThen, GoneThen, Then } from '#shared/history/then.ts';

export interface DashboardsAnswer {
  readonly dashboards: readonly Dashboard[];
  readonly clusters: readonly string[];
  /** How far a chart may look back. */
  readonly minutes: readonly number[];
  /** How often the page asks again. */
  readonly refreshSeconds: number;
}

export interface SeriesAnswer {
  /** Start of the first value, seconds since the epoch; then one value each `period` seconds. */
  readonly from: number;
  readonly period: number;
  /** For each widget, in the dashboard's order, its series in theirs. */
  readonly widgets: readonly (readonly SeriesValues[])[];
}

export interface SeriesValues {
  readonly values: readonly (number | null)[];
  readonly newest: number | null;
}

export interface FleetRow {
  readonly cluster: string;
  readonly mode: string;
  /** Kubernetes version of the API server; empty before a heartbeat has named it. */
  readonly version: string;
  /** Seconds; null before the first heartbeat. */
  readonly heartbeatAge: number | null;
  /** Age in seconds of the oldest overdue work; 0 for none. */
  readonly oldestDirty: number;
  /** Milliseconds from the relay's observation to the accepted write, over the last five minutes. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** Runs that failed and work that was parked, in the last five minutes. */
  readonly errors: number;
  /** `closed`, or why it is open; before that, what the first lists lack. */
  readonly circuit: string;
  readonly differences: number;
}

export interface ServiceEntry {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  /** Who writes its endpoints, in a few words; and why, in a sentence. */
  readonly writer: string;
  readonly why: string;
}

/** What the clusters of the hub export to one another, and import. */
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
  /** Which namespaces it may export. */
  readonly exports: string;
  readonly imports: string;
  /** Does its word count for those that import from it? */
  readonly state: SourceStateName;
  readonly why: string;
  /** Of its exports those that are valid, and those that are not. */
  readonly exported: number;
  readonly refused: number;
  readonly imported: number;
  readonly owed: number;
  /** Imports that another owner's object stands in the way of. */
  readonly inTheWay: number;
  /** Over all of its imports. */
  readonly leftOut: number;
  readonly collisions: number;
  readonly held: number;
}

/** A name that some cluster of a set exports. */
export interface SetServiceRow {
  readonly set: string;
  readonly namespace: string;
  readonly name: string;
  /** In the order of precedence, and then the exports that are not valid. */
  readonly sources: readonly StateOfCluster<SourceStateName | 'not valid'>[];
  readonly importers: readonly StateOfCluster<ImporterState>[];
  /** Sentences: what differs from all being well. */
  readonly remarks: readonly string[];
}

export interface StateOfCluster<State extends string> {
  readonly cluster: string;
  readonly state: State;
  readonly why: string;
}

export interface HistoryAnswer {
  /** Oldest first. */
  readonly told: readonly Told[];
  readonly remarks: readonly string[];
}

export interface Failure {
  readonly error: string;
}
