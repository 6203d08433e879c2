/** The answers of the console's API, for server and page. */
import type { Dashboard } from '#infra/monitoring/dashboards.ts';
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

export interface HistoryAnswer {
  /** Oldest first. */
  readonly told: readonly Told[];
  readonly remarks: readonly string[];
}

export interface Failure {
  readonly error: string;
}
