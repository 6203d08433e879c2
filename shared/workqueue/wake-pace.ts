/**
 * The pace at which an exporter wakes runs of other clusters, because these use the other clusters' workers,
 * queues and API servers. A name that changes often is woken once for several changes. A cluster or namespace
 * that changes many names wakes them one after the other.
 *
 * Fresh changes, which a relay has just seen, have budgets of their own. Otherwise they wait for minutes
 * behind a resync, a switch or first lists.
 */
import { defaultLimits, type SyncLimits } from '#shared/contract/limits.ts';
import type { WorkKind } from '#shared/kube/work-kinds.ts';

/** Margin for the queue's own clock: a wake-up that is due about now does not count as pending. */
const marginMs = 1_000;
/** SQS's maximum delay. */
const maxWaitMs = 900_000;

export interface Paced {
  readonly cluster: string;
  readonly isFresh: boolean;
}

export interface PacedName extends Paced {
  readonly namespace: string;
  readonly kind: WorkKind;
  readonly name: string;
  /** The clusters in which it is woken. */
  readonly clusters: readonly string[];
}

/** State of one worker. Each worker has a pace of its own. */
export class WakePace {
  readonly #limits: SyncLimits;
  readonly #pending = new Map<string, { readonly dueMs: number; readonly isFresh: boolean }>();
  /** Time at which the wake-ups so far would end at an even pace, by cluster and by namespace. */
  readonly #spentUntilMs = new Map<string, number>();

  constructor(limits: SyncLimits = defaultLimits.sync) {
    this.#limits = limits;
  }

  /**
   * Returns the time until the pending wake-up for the latest generation is due, ms, or 0 without one. A
   * change needs no message if a wake-up is still pending after its generation is added. A fresh change
   * counts only the wake-ups of fresh changes as pending.
   */
  pendingMs(name: PacedName, nowMs: number): number {
    const pending = this.#pending.get(idOf(name));
    if (!pending || (name.isFresh && !pending.isFresh)) return 0;
    const ms = pending.dueMs - nowMs;
    return ms > marginMs ? ms : 0;
  }

  /** Takes one wake-up of the budget. Returns its wait, ms, which is 0 within the budget. */
  take({ cluster, namespace, isFresh }: PacedName, nowMs: number): number {
    const { wakesOfCluster, wakesOfNamespace } = this.#limits;
    const waits = [
      this.#spend(`${cluster} ${isFresh}`, wakesOfCluster, nowMs),
      this.#spend(`${cluster} ${namespace} ${isFresh}`, wakesOfNamespace, nowMs),
    ];
    return Math.min(maxWaitMs, Math.max(...waits));
  }

  /** Takes one run of an import of the cluster. Returns its wait, ms, which is 0 within the budget. */
  takeImport(imports: Paced, nowMs: number): number {
    return Math.min(maxWaitMs, this.#spend(importsOf(imports), this.#limits.importsOfWorker, nowMs));
  }

  /** Returns true if the next run of an import of the cluster is within the budget. */
  hasImport(imports: Paced, nowMs: number): boolean {
    return waitMs(this.#next(importsOf(imports), this.#limits.importsOfWorker, nowMs), nowMs) === 0;
  }

  /** Call after every queue has accepted a wake-up for the latest generation, due at `dueMs`. */
  sent(name: PacedName, dueMs: number): void {
    this.#forgetSome(this.#pending);
    this.#pending.set(idOf(name), { dueMs, isFresh: name.isFresh });
  }

  /** Allows a minute's wake-ups at once, and then one at a time. */
  #spend(key: string, maxPerMinute: number, nowMs: number): number {
    this.#forgetSome(this.#spentUntilMs);
    const spentUntilMs = this.#next(key, maxPerMinute, nowMs);
    this.#spentUntilMs.set(key, spentUntilMs);
    return waitMs(spentUntilMs, nowMs);
  }

  #next(key: string, maxPerMinute: number, nowMs: number): number {
    return Math.max(this.#spentUntilMs.get(key) ?? 0, nowMs) + 60_000 / maxPerMinute;
  }

  /** Clears a full map. This loses the pace, but no wake-up. */
  #forgetSome(key: Map<string, unknown>): void {
    if (key.size >= this.#limits.maxLeaseEnds) key.clear();
  }
}

const importsOf = ({ cluster, isFresh }: Paced): string => `imports:${cluster} ${isFresh}`;
const waitMs = (spentUntilMs: number, nowMs: number): number => Math.max(0, spentUntilMs - nowMs - 60_000);

const idOf = ({ cluster, namespace, kind, name, clusters }: PacedName): string =>
  `${cluster} ${kind} ${namespace}/${name} ${clusters.join()}`;
