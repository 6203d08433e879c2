import { type Kind, kinds } from '#shared/kube/types.ts';

/** The relay's counters with their help. /metrics is public: the names stay. */
const counters = {
  relay_events_total: 'watch events read',
  relay_unchanged_total: 'pod and node updates dropped because nothing that is sent had changed',
  relay_lists_total: 'lists completed and accepted by the queue',
  relay_relists_total: 'lists made because a watch could not be resumed',
  relay_watch_errors_total: 'lists and watches that failed and were tried again',
  relay_unsendable_total: 'objects omitted because they cannot be projected or are too large; the log names each',
} as const;
const plainCounters = {
  relay_messages_total: 'messages that the queue has accepted',
  relay_refused_total: 'messages dropped because the queue refuses them for good; the log names their objects',
  relay_queue_errors_total: 'sends that the queue did not accept',
  relay_heartbeats_total: 'heartbeats that the queue has accepted',
  relay_sessions_total: 'views of the cluster begun',
  relay_lease_errors_total: 'calls for the lease that failed',
} as const;

export type KindCounter = keyof typeof counters;
export type PlainCounter = keyof typeof plainCounters;

export interface Gauge {
  readonly name: string;
  readonly help: string;
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

  /** Prometheus' text format 0.0.4. Every counter is there from the start, with 0. */
  render(nowMs: number, gauges: readonly Gauge[]): string {
    const out: string[] = [];
    const family = (name: string, type: string, help: string): number => out.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [name, help] of Object.entries(counters) as [KindCounter, string][]) {
      family(name, 'counter', help);
      for (const kind of kinds) out.push(`${name}{kind="${kind}"} ${this.value(name, kind)}`);
    }
    for (const [name, help] of Object.entries(plainCounters) as [PlainCounter, string][]) {
      family(name, 'counter', help);
      out.push(`${name} ${this.value(name)}`);
    }
    family('relay_last_event_age_seconds', 'gauge', 'time since the last watch event');
    for (const [kind, at] of this.#lastEvent) out.push(`relay_last_event_age_seconds{kind="${kind}"} ${Math.max(0, nowMs - at) / 1000}`);
    for (const { name, help, values } of gauges) {
      family(name, 'gauge', help);
      for (const [labels, value] of values) out.push(`${name}${labels} ${value}`);
    }
    return `${out.join('\n')}\n`;
  }

  #raise(series: string, n: number): void {
    this.#values.set(series, (this.#values.get(series) ?? 0) + n);
  }
}
