/**
 * The pace at which one exporter wakes the runs of other clusters, which take those clusters' workers, queues and API servers. A name that changes
 * often is woken once for all of its changes. A cluster or namespace that changes many names wakes them one after the other.
 */
import { defaultLimits, type SyncLimits } from '#shared/contract/limits.ts';

/** The queue has a clock of its own: a wake-up that is about to come, or has just come, does not count as pending. */
const marginMs = 1_000;
/** SQS delays by no more. */
const maxWaitMs = 900_000;

export interface PacedName {
  readonly cluster: string;
  readonly namespace: string;
  /** The name of the work item, and the clusters in which it is woken. */
  readonly work: string;
  readonly clusters: readonly string[];
}

/** The memory of one worker: each worker has a pace of its own. */
export class WakePace {
  readonly #limits: SyncLimits;
  readonly #dueMs = new Map<string, number>();
  /** By cluster and by namespace, when the wake-ups so far would be over at an even pace. */
  readonly #spentUntilMs = new Map<string, number>();

  constructor(limits: SyncLimits = defaultLimits.sync) {
    this.#limits = limits;
  }

  /**
   * How long until the pending wake-up for the latest generation is due, ms; 0 without one. A change needs no message of its own if one is still
   * pending once its generation is added.
   */
  pendingMs(name: PacedName, nowMs: number): number {
    const ms = (this.#dueMs.get(idOf(name)) ?? 0) - nowMs;
    return ms > marginMs ? ms : 0;
  }

  /** Takes one wake-up of the budget. Returns how long it waits, ms: 0 within the budget. */
  take({ cluster, namespace }: PacedName, nowMs: number): number {
    const { wakesOfCluster, wakesOfNamespace } = this.#limits;
    const waits = [this.#spend(cluster, wakesOfCluster, nowMs), this.#spend(`${cluster} ${namespace}`, wakesOfNamespace, nowMs)];
    return Math.min(maxWaitMs, Math.max(...waits));
  }

  /** Every queue has accepted a wake-up for the latest generation that is due then. */
  sent(name: PacedName, dueMs: number): void {
    this.#forgetSome(this.#dueMs);
    this.#dueMs.set(idOf(name), dueMs);
  }

  /** A minute's wake-ups may come at once, and after them one at a time. */
  #spend(of: string, maxPerMinute: number, nowMs: number): number {
    this.#forgetSome(this.#spentUntilMs);
    const spentUntilMs = Math.max(this.#spentUntilMs.get(of) ?? 0, nowMs) + 60_000 / maxPerMinute;
    this.#spentUntilMs.set(of, spentUntilMs);
    return Math.max(0, spentUntilMs - nowMs - 60_000);
  }

  /** Without it the pace is lost, and no wake-up. */
  #forgetSome(of: Map<string, number>): void {
    if (of.size >= this.#limits.maxLeaseEnds) of.clear();
  }
}

const idOf = ({ cluster, namespace, work, clusters }: PacedName): string => `${cluster} ${namespace}/${work} ${clusters.join()}`;
