import { delayBoundsMs } from '#shared/contract/endpoint-delay.ts';
import {
  type KindCounter,
  type PlainCounter,
  type RelayGauge,
  type RelayHistogram,
  type RelayMetric,
  relayMetrics,
} from '#shared/contract/relay-metrics.ts';
import { type Kind, kinds } from '#shared/kube/types.ts';

type Series = readonly [labels: string, value: number];

export interface Gauge {
  readonly name: RelayGauge;
  readonly values: readonly Series[];
}

type Labels = { readonly [label: string]: string };

/** One series of a histogram: the number of values in each bucket, which the last one lacks a bound for. */
interface Observed {
  readonly buckets: number[];
  sum: number;
}

const boundsOf: { readonly [H in RelayHistogram]: readonly number[] } = {
  relay_endpoint_delay_seconds: delayBoundsMs.map((ms) => ms / 1000),
};

export class Meter {
  readonly #values = new Map<string, number>();
  /** By histogram and labels. */
  readonly #observed = new Map<string, Observed>();
  /** Ms since the epoch. */
  readonly #lastEvent = new Map<Kind, number>();

  add(counter: KindCounter, kind: Kind): void {
    this.#raise(`${counter}{kind="${kind}"}`, 1);
  }

  count(counter: PlainCounter, n = 1): void {
    this.#raise(counter, n);
  }

  observe(histogram: RelayHistogram, labels: Labels, value: number): void {
    const key = `${histogram} ${textOf(labels)}`;
    const bounds = boundsOf[histogram];
    const observed = this.#observed.get(key) ?? { buckets: [...bounds, 0].map(() => 0), sum: 0 };
    const bucket = bounds.findIndex((bound) => value <= bound);
    const at = bucket === -1 ? bounds.length : bucket;
    observed.buckets[at] = (observed.buckets[at] as number) + 1;
    observed.sum += value;
    this.#observed.set(key, observed);
  }

  event(kind: Kind, nowMs: number): void {
    this.add('relay_events_total', kind);
    this.#lastEvent.set(kind, nowMs);
  }

  value(counter: KindCounter | PlainCounter, kind?: Kind): number {
    return this.#values.get(kind ? `${counter}{kind="${kind}"}` : counter) ?? 0;
  }

  /**
   * Prometheus' text format 0.0.4. Every counter is there from the start, with 0. A gauge or a histogram
   * without values is left out.
   */
  render(nowMs: number, gauges: readonly Gauge[]): string {
    const ages = [...this.#lastEvent].map(
      ([kind, at]) => [`{kind="${kind}"}`, Math.max(0, nowMs - at) / 1000] as const,
    );
    const given = new Map(
      [{ name: 'relay_last_event_age_seconds', values: ages } as Gauge, ...gauges].map(({ name, values }) => [
        name,
        values,
      ]),
    );
    const seriesOf = (name: string, { type, byKind }: RelayMetric): readonly Series[] => {
      if (type === 'gauge') return given.get(name as RelayGauge) ?? [];
      return type === 'histogram' ? this.#histogram(name as RelayHistogram) : this.#counter(name, byKind);
    };
    const lines = Object.entries<RelayMetric>(relayMetrics).flatMap(([name, metric]) => {
      const series = seriesOf(name, metric);
      if (series.length === 0) return [];
      return [
        `# HELP ${name} ${metric.help}`,
        `# TYPE ${name} ${metric.type}`,
        ...series.map(([labels, value]) => `${name}${labels} ${value}`),
      ];
    });
    return `${lines.join('\n')}\n`;
  }

  #counter(name: string, byKind: boolean | undefined): readonly Series[] {
    const labels = byKind ? kinds.map((kind) => `{kind="${kind}"}`) : [''];
    return labels.map((label) => [label, this.#values.get(name + label) ?? 0]);
  }

  /** The lines of a histogram, each with the suffix of its name. Buckets are cumulative. */
  #histogram(name: RelayHistogram): readonly Series[] {
    const bounds = [...boundsOf[name].map(String), '+Inf'];
    return [...this.#observed].flatMap(([key, { buckets, sum }]) => {
      const [histogram, labels = ''] = key.split(' ');
      if (histogram !== name) return [];
      let count = 0;
      const lines = bounds.map((le, i) => {
        count += buckets[i] as number;
        return [`_bucket{${labels},le="${le}"}`, count] as const;
      });
      return [...lines, [`_sum{${labels}}`, sum] as const, [`_count{${labels}}`, count] as const];
    });
  }

  #raise(series: string, n: number): void {
    this.#values.set(series, (this.#values.get(series) ?? 0) + n);
  }
}

const textOf = (labels: Labels): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',');
