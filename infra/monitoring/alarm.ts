import type { MetricName } from '#shared/contract/metrics.ts';
import type { Series, Statistic } from './series.ts';

export interface Alarm {
  readonly id: string;
  /** `page`: wakes the person on call. `ticket`: handled within working hours. */
  readonly severity: 'page' | 'ticket';
  readonly series: Series;
  readonly is: '>' | '<';
  readonly threshold: number;
  readonly periodMinutes: number;
  /** In alarm when `datapoints` of the last `periods` are over the threshold; by default all of them. */
  readonly periods: number;
  readonly datapoints?: number;
  readonly missing: 'fine' | 'alarm';
  /** The problem that the alarm reports. */
  readonly meaning: string;
}

type Rest = Pick<Alarm, 'severity' | 'threshold' | 'meaning'> & Partial<Alarm>;
const usual = { is: '>', periodMinutes: 1, periods: 1, missing: 'fine' } as const;
export const on = (id: string, metric: MetricName, statistic: Statistic, rest: Rest): Alarm => ({
  ...usual,
  id,
  series: { metric, statistic },
  ...rest,
});
export const onSource = (id: string, series: Series, rest: Rest): Alarm => ({ ...usual, id, series, ...rest });
export const visible = { aws: 'AWS/SQS', name: 'ApproximateNumberOfMessagesVisible', statistic: 'Maximum' } as const;
export const throttles = { aws: 'AWS/Lambda', name: 'Throttles', statistic: 'Sum' } as const;
export const errors = { aws: 'AWS/Lambda', name: 'Errors', statistic: 'Sum' } as const;
export const dropped = { aws: 'AWS/Lambda', name: 'RecursiveInvocationsDropped', statistic: 'Sum' } as const;
/**
 * A message that fails comes back within seconds, later up to four minutes and a half (queue/come-back.ts), one whose batch crashed after the visibility
 * timeout of three minutes (cluster-queues.ts). So its failures are never in minutes in a row, but in three of fifteen at least.
 */
export const comesBack = { periods: 15, datapoints: 3 } as const;
export const tableThrottles = { aws: 'AWS/DynamoDB', statistic: 'Sum' } as const;
