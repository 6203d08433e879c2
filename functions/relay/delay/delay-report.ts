import {
  type DelayCount,
  delayBoundsMs,
  type EndpointChange,
  type EndpointDelayReport,
  maxSlowServices,
  type RemovalDelay,
  removalDelay,
  type SliceWriter,
  type SlowService,
  slowDelayMs,
} from '#shared/contract/endpoint-delay.ts';

/** A slice of a Service showed a change of a pod. */
export interface EndpointDelay {
  readonly namespace: string;
  readonly service: string;
  readonly writer: SliceWriter;
  readonly change: EndpointChange;
  readonly ms: number;
}

/** The delays that no heartbeat has reported yet: counts of buckets, and the slowest Services. */
export class DelayReport {
  readonly #counts = new Map<string, DelayCount>();
  #slowest: readonly SlowService[] = [];
  /** Number of deleted pods since the relay started, by the upper bound of the bucket of their delay. */
  readonly #removals = new Map<number, number>();

  add(delay: EndpointDelay): void {
    const atMostMs = delayBoundsMs.find((bound) => delay.ms <= bound) as number;
    this.#count({ writer: delay.writer, change: delay.change, atMostMs, count: 1 });
    if (delay.change === 'deleted') this.#removals.set(atMostMs, (this.#removals.get(atMostMs) ?? 0) + 1);
    if (delay.ms > slowDelayMs) this.#slowest = slowestOf([...this.#slowest, delay]);
  }

  get removals(): RemovalDelay | undefined {
    return removalDelay(this.#removals);
  }

  /** Returns the delays and forgets them; undefined if there are none. */
  take(): EndpointDelayReport | undefined {
    if (this.#counts.size === 0) return undefined;
    const report = { counts: [...this.#counts.values()], slowest: this.#slowest };
    this.#counts.clear();
    this.#slowest = [];
    return report;
  }

  /** The queue did not accept the heartbeat: the next one reports its delays. */
  giveBack({ counts, slowest }: EndpointDelayReport): void {
    for (const count of counts) this.#count(count);
    this.#slowest = slowestOf([...this.#slowest, ...slowest]);
  }

  #count(more: DelayCount): void {
    const key = `${more.writer} ${more.change} ${more.atMostMs}`;
    const count = (this.#counts.get(key)?.count ?? 0) + more.count;
    this.#counts.set(key, { ...more, count });
  }
}

/** Each Service counts once, with its longest delay. */
function slowestOf(services: readonly SlowService[]): readonly SlowService[] {
  const sorted = services.toSorted((a, b) => b.ms - a.ms);
  const isFirst = ({ namespace, service }: SlowService, i: number): boolean =>
    sorted.findIndex((s) => s.namespace === namespace && s.service === service) === i;
  return sorted.filter(isFirst).slice(0, maxSlowServices);
}
