import {
  type KindCounter,
  type PlainCounter,
  type RelayGauge,
  type RelayMetric,
  relayMetrics,
} from '#shared/contract/relay-metrics.ts';
import { type Kind, kinds } from '#shared/kube/types.ts';

export interface Gauge {
  readonly name: RelayGauge;
  readonly values: readonly (readonly [labels: string, value: number])[];
}

export class Meter {
  readonly #values = new Map<string, number>();
  /** Ms since the epoch. */
  readonly #lastEvent = new Map<Kind, number>();

  add(counter: KindCounter, kind: Kind): void {
    this.#raise(`${counter}{kind="${kind}"}`, 1);
  }

  count(counter: PlainCounter, n = 1): void {
    this.#raise(counter, n);
  }

  event(kind: Kind, nowMs: number): void {
    this.add('relay_events_total', kind);
    this.#lastEvent.set(kind, nowMs);
  }

  value(counter: KindCounter | PlainCounter, kind?: Kind): number {
    return this.#values.get(kind ? `${counter}{kind="${kind}"}` : counter) ?? 0;
  }

  /**
   * Prometheus' text format 0.0.4. Every counter is there from the start, with 0. A gauge without values is
   * left out.
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
    const out: string[] = [];
    for (const [name, { type, byKind, help }] of Object.entries<RelayMetric>(relayMetrics)) {
      const series = byKind ? kinds.map((kind) => `{kind="${kind}"}`) : [''];
      const values =
        type === 'gauge'
          ? (given.get(name as RelayGauge) ?? [])
          : series.map((labels) => [labels, this.#values.get(name + labels) ?? 0]);
      if (values.length === 0) continue;
      out.push(
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...values.map(([labels, value]) => `${name}${labels} ${value}`),
      );
    }
    return `${out.join('\n')}\n`;
  }

  #raise(series: string, n: number): void {
    this.#values.set(series, (this.#values.get(series) ?? 0) + n);
  }
}
