/** Types of the console's API, for server and page. */

import type { Dashboard } from '#infra/aws/monitoring/widgets.ts';
import type { RunText } from '#infra/cli/ask/history/sentences.ts';
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

export interface FleetRow {
  readonly cluster: string;
  readonly labels: { readonly [name: string]: string };
  readonly mode: string;
  /** Kubernetes version of the API server; empty before a heartbeat has named it. */
  readonly version: string;
  /** Seconds; null before the first heartbeat. */
  readonly heartbeatAge: number | null;
  /** Age in seconds of the oldest pending work, or 0 without pending work. */
  readonly oldestDirty: number;
  /** Milliseconds from the relay's observation to the accepted write, over the last five minutes. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** Number of failed runs and parked work items in the last five minutes. */
  readonly errors: number;
  /** `closed`, the reason why the circuit is open, or the kinds whose first lists are missing. */
  readonly circuit: string;
  readonly differences: number;
  readonly withoutWriter: number;
  /** Why the hub does not know the cluster as it is now; empty if it does. */
  readonly notKnown: string;
  /** Zones that traffic is away from, each with its end and who sent it away. */
  readonly zonesAway: readonly { readonly zone: string; readonly why: string }[];
  /** Services that cannot be reached. Null until they are counted; at most once a minute. */
  readonly unreachable: number | null;
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
