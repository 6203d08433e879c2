import type { Series } from '#infra/aws/monitoring/series.ts';
import { metrics, type Unit } from '#shared/contract/metrics.ts';

const short: { readonly [U in Unit]: string } = { Count: '', Milliseconds: 'ms', Seconds: 's' };

/** Formats a value with its unit: "1,204", "85 ms", "2.4 s", "3 min". */
export function valueText(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return '–';
  if (unit === 'Milliseconds') return value < 1000 ? `${round(value)} ms` : durationText(value / 1000);
  return unit === 'Seconds' ? durationText(value) : round(value);
}

export function durationText(seconds: number): string {
  if (seconds < 120) return `${round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** Returns the unit of a series' values. Counts are per period. */
export function unitText(unit: Unit, statistic: string, period: number): string {
  if (unit !== 'Count') return short[unit];
  return statistic === 'Sum' ? `per ${period} s` : 'count';
}

/** Ticks may be a quarter of a second apart. */
export const axisText = (value: number, unit: Unit): string =>
  unit === 'Milliseconds' && value >= 1000
    ? `${round(value / 1000, 2)} s`
    : `${round(value, 2)}${unit === 'Seconds' ? ' s' : unit === 'Milliseconds' ? ' ms' : ''}`;

function round(value: number, mostDigits = 1): string {
  const digits = value !== 0 && Math.abs(value) < 10 && !Number.isInteger(value) ? mostDigits : 0;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

/** Returns the tooltip of a series, or undefined for metrics of AWS and of upstream. */
export const helpText = (series: Series): string | undefined =>
  'metric' in series ? metrics[series.metric].help : undefined;
