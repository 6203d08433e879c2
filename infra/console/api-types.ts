/** Types of the console's API, for server and page. */

import type { Dashboard } from '#infra/aws/monitoring/widgets.ts';
import type { RunText } from '#infra/cli/ask/history/sentences.ts';
import type { ListedCluster } from '#infra/cli/ask/lists/cluster-list.ts';
import type { ServiceEntry } from '#infra/cli/ask/lists/service-entry.ts';

export type { RunText } from '#infra/cli/ask/history/sentences.ts';
export type { AddressThen, GoneThen, Then } from '#infra/cli/ask/history/then.ts';

/** In place of its causes it has the worst one, in words; empty without one that deserves a look. */
export type ListedService = Omit<ServiceEntry, 'data'> &
  Omit<ServiceEntry['data'], 'causes'> & { readonly cause: string };

export interface DashboardsAnswer {
  readonly dashboards: readonly Dashboard[];
  readonly clusters: readonly string[];
  /** The choices of a chart's time span. */
  readonly minutes: readonly number[];
  /** Interval of the page's requests, seconds. */
  readonly refreshSeconds: number;
  /** Absent in a local run. */
  readonly deployed?: DeployedHub;
}

export interface DeployedHub {
  /** Commands name the hub by its table. */
  readonly table: string;
  /** The address of each dashboard in CloudWatch, by the dashboard's id. */
  readonly cloudWatch: { readonly [dashboard: string]: string };
  /** The address of the region's alarms. Their descriptions link to the runbook. */
  readonly alarms: string;
}

export interface SeriesAnswer {
  /** Start of the first value, seconds since the epoch. The next values follow every `period` seconds. */
  readonly from: number;
  readonly period: number;
  /** The series of each widget, both in the dashboard's order. */
  readonly widgets: readonly (readonly SeriesValues[])[];
}

export interface SeriesValues {
  readonly values: readonly (number | null)[];
  readonly newest: number | null;
}

export interface FleetRow extends ListedCluster {
  readonly labels: { readonly [name: string]: string };
  /** The mode, and further switches that are not off. */
  readonly switches: string;
  /** Seconds; null before the first heartbeat. */
  readonly heartbeatAge: number | null;
  /** Milliseconds from the relay's observation to the accepted write, over the last five minutes. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** Number of failed runs and parked work items in the last five minutes. */
  readonly errors: number;
}

export interface HistoryAnswer {
  /** Oldest first. */
  readonly runs: readonly RunText[];
  readonly remarks: readonly string[];
}

/** A cluster, or with a namespace and a name a service of it, or one that selects the found pod. */
export interface FoundName {
  readonly cluster: string;
  readonly namespace?: string;
  readonly service?: string;
  /** The pod's name and its IPs. */
  readonly pod?: string;
}

export interface SearchAnswer {
  readonly found: readonly FoundName[];
  /** Number of further names. */
  readonly more: number;
}

export interface Failure {
  readonly error: string;
}
