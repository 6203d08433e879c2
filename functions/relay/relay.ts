import type { Kind } from '#shared/kube/types.ts';
import type { Candidate, Election } from './election/election.ts';
import { NotLeading } from './outbox/delivery.ts';
import { QueueHealth } from './outbox/queue-health.ts';
import type { RelayDeps, RelayOptions } from './relay-deps.ts';
import { Session } from './relay-session.ts';
import { sleep } from './runtime/clock.ts';
import { ConditionVariable } from './runtime/condition-variable.ts';
import type { Gauge } from './runtime/meter.ts';
import { ClusterReplaced, QueueReplaced } from './runtime/relay-errors.ts';
import { identify, waitUntilReadable } from './source/identify.ts';

/** Time limit for giving back the Lease at the end. */
const giveBackMs = 2_000;

/**
 * Sends the state of one cluster to the hub: first lists of every kind, then every change. One view of the
 * cluster is a session; when the cluster turns out to be another one (restored, or a new cluster behind the
 * same address), the next session begins.
 *
 * With an election each term of this relay as leader begins with a session. A standby reads nothing but the
 * Lease (docs/develop/decisions/0013).
 */
export class Relay {
  readonly #deps: RelayDeps;
  readonly #options: Required<RelayOptions>;
  readonly #acceptance: QueueHealth;
  readonly #terms = new ConditionVariable();
  /** Aborted when another relay leads; undefined in a standby. */
  #term: AbortController | undefined;
  #session: Session | undefined;
  /** By kind, of the cluster with this uid (reflector-deps.ts). */
  readonly #answered = new Map<Kind, string>();
  #uid: string | undefined;
  /**
   * Set when this relay notices a restored cluster, until the queue has accepted the first lists of a later
   * session.
   */
  #historyRewoundAtMs: number | undefined;

  constructor(deps: RelayDeps, options: RelayOptions) {
    this.#acceptance = new QueueHealth(deps.queue, deps.clock);
    this.#deps = { ...deps, queue: this.#acceptance };
    const { resyncMs } = deps.limits.relay;
    this.#options = { resyncMs, drainMs: 4_000, clusterset: false, ...options };
    if (!deps.election) this.#term = new AbortController();
  }

  /**
   * Resolves when the signal has been aborted and the outbox is drained or dropped. Rejects with
   * UnorderedVersions.
   */
  async run(stop: AbortSignal): Promise<void> {
    const { election } = this.#deps;
    const ended = new AbortController();
    const elected = election && this.#stand(election, ended.signal).catch(() => {});
    try {
      await this.#runSessions(stop);
    } finally {
      ended.abort(new Error('the relay ends'));
      await elected;
      if (election) await this.#within(giveBackMs, (late) => election.giveBack(late));
    }
  }

  async #stand(election: Election, signal: AbortSignal): Promise<void> {
    await waitUntilReadable(this.#deps, signal);
    await election.run(this.#candidate(), signal);
  }

  /** In the leader: has the queue accepted all first lists? In a standby: has it read the Lease? */
  get isReady(): boolean {
    const { election } = this.#deps;
    return this.#term
      ? (this.#session?.reflectors.every((r) => r.isListed) ?? false)
      : election?.hasObserved === true;
  }

  /** Does this relay send, or is it a standby? */
  get isLeading(): boolean {
    return this.#term !== undefined;
  }

  /**
   * Reflectors without activity for that long. An unreachable API server or queue makes no reflector stuck:
   * it retries.
   */
  stuck(forMs: number): Kind[] {
    const now = this.#deps.clock.now();
    return (this.#session?.reflectors ?? []).filter((r) => r.idleMs(now) > forMs).map((r) => r.kind);
  }

  gauges(): Gauge[] {
    const waiting = this.#session?.outbox.waiting ?? 0;
    const served = this.#session?.served ?? [];
    return [
      { name: 'relay_waiting_objects', values: [['', waiting]] },
      { name: 'relay_ready', values: [['', this.isReady ? 1 : 0]] },
      { name: 'relay_leading', values: [['', this.isLeading ? 1 : 0]] },
      {
        name: 'relay_kind_served',
        values: served.map(([kind, isServed]) => [`{kind="${kind}"}`, isServed ? 1 : 0] as const),
      },
    ];
  }

  async #runSessions(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      try {
        await this.#terms.waitUntil(() => this.#term !== undefined, stop);
        await this.#runSession(this.#term as AbortController, stop);
      } catch (e) {
        if (!stop.aborted) await this.#endSession(e, stop);
      }
    }
  }

  /** Resolves when the next session may begin; throws an error that a session cannot mend. */
  async #endSession(e: unknown, stop: AbortSignal): Promise<void> {
    if (e instanceof NotLeading) return;
    if (!(e instanceof ClusterReplaced || e instanceof QueueReplaced)) throw e;
    const { clock, election, log } = this.#deps;
    const what = e instanceof QueueReplaced ? 'queue' : 'cluster';
    log.warn(`${what} is another one, beginning a new session`, { reason: e.message });
    if (e instanceof ClusterReplaced) {
      if (e.wentBack) this.#historyRewoundAtMs = Math.round(clock.now());
      this.#answered.clear();
      // The Lease was the former cluster's: another relay may lead in this one. The next renewal begins the
      // next term.
      if (election) this.#endTerm();
    }
    await sleep(clock, 1000, stop).catch(() => {});
  }

  /** Rejects with NotLeading when the term ends. */
  async #runSession(term: AbortController, stop: AbortSignal): Promise<void> {
    const { election, log, meter } = this.#deps;
    const over = AbortSignal.any([stop, term.signal]);
    const identity = await identify(this.#deps, over);
    if (identity.uid !== this.#uid) this.#answered.clear();
    this.#uid = identity.uid;
    const ended = new AbortController();
    const maySend = election && (() => this.#isIn(term, election));
    const session = new Session(
      { ...this.#deps, maySend, answered: this.#answered },
      this.#options,
      identity,
      this.#historyRewoundAtMs,
    );
    this.#session = session;
    meter.count('relay_sessions_total');
    const work = session.run(AbortSignal.any([over, ended.signal]));
    const reopened = new Promise<never>((_, reject) => {
      this.#acceptance.onReopened = () =>
        reject(new QueueReplaced('it refused this relay, or was not there, and now accepts again'));
    });
    try {
      await Promise.race([work, reopened]);
    } finally {
      if (session.reflectors.every((r) => r.isListed)) this.#historyRewoundAtMs = undefined;
      ended.abort(new Error('the session is over'));
      if (term.signal.aborted) session.outbox.close();
      const drained = this.#within(this.#options.drainMs, (late) => session.outbox.waitUntilDrained(late));
      await this.#within(this.#options.drainMs, () => Promise.allSettled([work]));
      if (stop.aborted && !(await drained))
        log.warn('relay stopped with unsent objects: the next leader lists', {
          waiting: session.outbox.waiting,
        });
      this.#session = undefined;
      session.outbox.close();
    }
  }

  /**
   * Does this relay still lead in that term? A process that was paused past its lease must not send any more.
   */
  #isIn(term: AbortController, election: Election): boolean {
    if (!election.isLeading) this.#endTerm();
    return !term.signal.aborted;
  }

  #endTerm(): void {
    this.#term?.abort(new NotLeading('another relay leads'));
    this.#term = undefined;
  }

  /** The relay as the election's candidate. */
  #candidate(): Candidate {
    return {
      lead: () => {
        if (this.#term) return;
        this.#acceptance.begin();
        this.#term = new AbortController();
        this.#terms.notifyAll();
      },
      standBy: () => this.#endTerm(),
      queueState: () => ({ failingMs: this.#acceptance.failingMs, accepted: this.#acceptance.accepted }),
    };
  }

  /** False on a timeout: a queue that does not answer must not keep the process from ending. */
  async #within(ms: number, task: (late: AbortSignal) => Promise<unknown>): Promise<boolean> {
    const late = new AbortController();
    const ended = new Promise<boolean>((resolve) =>
      late.signal.addEventListener('abort', () => resolve(false), { once: true }),
    );
    const cancel = this.#deps.clock.after(ms, () => late.abort(new Error('too late')));
    const done = task(late.signal).then(
      () => true,
      () => false,
    );
    return Promise.race([done, ended]).finally(cancel);
  }
}
