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
export const onSource = (id: string, series: Series, rest: Rest): Alarm => ({
  ...usual,
  id,
  series,
  ...rest,
});
export const visible = {
  aws: 'AWS/SQS',
  name: 'ApproximateNumberOfMessagesVisible',
  statistic: 'Maximum',
} as const;
export const throttles = { aws: 'AWS/Lambda', name: 'Throttles', statistic: 'Sum' } as const;
export const errors = { aws: 'AWS/Lambda', name: 'Errors', statistic: 'Sum' } as const;
export const dropped = { aws: 'AWS/Lambda', name: 'RecursiveInvocationsDropped', statistic: 'Sum' } as const;
/**
 * A failed message returns within seconds, later within four and a half minutes (queue/visibility.ts). After
 * a crash it returns at the visibility timeout of ninety seconds (cluster-queues.ts). Its failures therefore
 * fall into at least three of fifteen minutes, and never into consecutive ones.
 */
export const comesBack = { periods: 15, datapoints: 3 } as const;
export const tableThrottles = { aws: 'AWS/DynamoDB', statistic: 'Sum' } as const;
