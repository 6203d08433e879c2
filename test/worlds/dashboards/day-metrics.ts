/** CloudWatch's metrics of a day, from the lines of the Embedded Metric Format that functions print. */

/** Any statistic that a dashboard's series may have. */
export type DayStatistic = 'Sum' | 'Average' | 'Minimum' | 'Maximum' | 'SampleCount' | `p${number}`;

export type Points = readonly (number | null)[];

export interface Address {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: { readonly [name: string]: string };
}

export const isStatistic = (text: string): text is DayStatistic =>
  /^(Sum|Average|Minimum|Maximum|SampleCount|p\d+)$/.test(text);

export class DayMetrics {
  readonly #series = new Map<string, { readonly address: Address; readonly buckets: number[][] }>();
  readonly #startMs: number;
  readonly #periodMs: number;
  readonly periods: number;

  constructor(startMs: number, periodMs: number, periods: number) {
    this.#startMs = startMs;
    this.#periodMs = periodMs;
    this.periods = periods;
  }

  /** Adds a line; one that is not of metrics changes nothing. */
  add(text: string): void {
    const line = JSON.parse(text) as {
      readonly _aws?: {
        readonly Timestamp: number;
        readonly CloudWatchMetrics: readonly {
          readonly Namespace: string;
          readonly Dimensions: readonly (readonly string[])[];
          readonly Metrics: readonly { readonly Name: string }[];
        }[];
      };
      readonly [field: string]: unknown;
    };
    const { Timestamp = 0, CloudWatchMetrics: directives = [] } = line._aws ?? {};
    const at = Math.floor((Timestamp - this.#startMs) / this.#periodMs);
    if (at < 0 || at >= this.periods) return;
    for (const { Namespace, Dimensions, Metrics } of directives)
      for (const names of Dimensions)
        for (const { Name } of Metrics) {
          const dimensions = Object.fromEntries(names.map((n) => [n, String(line[n])]));
          const bucket = this.#bucket({ namespace: Namespace, name: Name, dimensions }, at);
          for (const value of [line[Name]].flat()) if (typeof value === 'number') bucket.push(value);
        }
  }

  points(address: Address, statistic: DayStatistic): Points {
    const buckets = this.#series.get(keyOf(address))?.buckets ?? [];
    return Array.from({ length: this.periods }, (_, i) => statisticOf(buckets[i] ?? [], statistic));
  }

  /** Every value of the dimension, of metrics without any other dimension. */
  valuesOf({ namespace, name }: Omit<Address, 'dimensions'>, dimension: string): readonly string[] {
    return [...this.#series.values()].flatMap(({ address }) => {
      const dimensions = Object.keys(address.dimensions);
      const isIt = address.namespace === namespace && address.name === name;
      return isIt && dimensions.length === 1 && dimensions[0] === dimension
        ? [address.dimensions[dimension] ?? '']
        : [];
    });
  }

  #bucket(address: Address, at: number): number[] {
    const key = keyOf(address);
    const series = this.#series.get(key) ?? { address, buckets: [] };
    this.#series.set(key, series);
    series.buckets[at] ??= [];
    return series.buckets[at];
  }
}

const keyOf = ({ namespace, name, dimensions }: Address): string =>
  [
    namespace,
    name,
    ...Object.entries(dimensions)
      .map(([n, value]) => `${n}=${value}`)
      .sort(),
  ].join('|');

/** Null without observations. Percentiles by nearest rank. */
function statisticOf(values: readonly number[], statistic: DayStatistic): number | null {
  if (values.length === 0) return null;
  const sum = values.reduce((a, b) => a + b, 0);
  switch (statistic) {
    case 'Sum':
      return sum;
    case 'SampleCount':
      return values.length;
    case 'Average':
      return sum / values.length;
    case 'Minimum':
      return Math.min(...values);
    case 'Maximum':
      return Math.max(...values);
    default: {
      const sorted = values.toSorted((a, b) => a - b);
      const rank = Math.ceil((Number(statistic.slice(1)) / 100) * sorted.length);
      return sorted[Math.max(0, rank - 1)] ?? null;
    }
  }
}
