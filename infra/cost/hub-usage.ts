/** The usage of a deployed hub in a number of days, as AWS counts it. */
export interface HubUsage {
  readonly days: number;
  readonly table: TableUsage;
  readonly functions: { readonly [role in CountedFunction]: { readonly invocations: number; readonly ms: number } };
  readonly logBytes: number;
  /** Custom metrics with a value in the last two weeks. */
  readonly customMetrics: number;
  /** Metrics that alarms watch; each is billed as an alarm. */
  readonly alarmMetrics: number;
  readonly compositeAlarms: number;
  readonly clusters: readonly ClusterUsage[];
  /** Runs that wrote endpoints. */
  readonly writtenRuns: number;
}

export type CountedFunction = 'ingest' | 'sync' | 'sweep';

export interface TableUsage {
  readonly bytes: number;
  /** Consumed units of the table and of its index, in steps of `stepSeconds`. */
  readonly consumed: readonly UnitSeries[];
  /** Unit hours of table and index. Undefined on demand. */
  readonly provisionedHours?: { readonly reads: number; readonly writes: number } | undefined;
}

export interface UnitSeries {
  readonly reads: readonly number[];
  readonly writes: readonly number[];
}

export const stepSeconds = 300;

export interface ClusterUsage {
  readonly id: string;
  readonly hasImports: boolean;
  readonly hasSecret: boolean;
  /** Messages of its two queues. */
  readonly sent: number;
  readonly received: number;
  readonly emptyReceives: number;
}
