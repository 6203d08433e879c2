import { limitsOf } from '#shared/contract/limits.ts';
import type { Kind } from '#shared/kube/types.ts';
import type { Candidate } from './election/election.ts';
import type { Accepted } from './election/lease.ts';
import { Published } from './election/published.ts';
import { Acceptance } from './outbox/acceptance.ts';
import type { RelayDeps, RelayOptions } from './relay-deps.ts';
import { Session } from './relay-session.ts';
import { sleep } from './runtime/clock.ts';
import { Condition } from './runtime/condition.ts';
import type { Gauge } from './runtime/meter.ts';
import { ClusterReplaced, QueueReplaced } from './runtime/relay-errors.ts';
import { identify } from './source/identify.ts';

/** Time limit for giving back the Lease at the end. */
const giveBackMs = 2_000;

/**
 * Sends the state of one cluster to the hub: first lists of every kind, then every change. One view of the cluster is a session; when the cluster turns out
 * to be another one (restored, or a new cluster behind the same address), the next session begins.
 *
 * With an election the relay sends while it is the leader, and is a standby otherwise (docs/decisions/0013-the-relay-survives-its-node.md).
 */
export class Relay {
  readonly #deps: RelayDeps;
  readonly #options: Required<RelayOptions>;
  readonly #acceptance: Acceptance;
  readonly #turns = new Condition();
  readonly #published = new Published();
  #session: Session | undefined;
  /** The accepted versions of the session that ended last, for the next leader. */
  #left: Accepted | undefined;
  #everListed = false;

  constructor(deps: RelayDeps, options: RelayOptions) {
    this.#acceptance = new Acceptance(deps.queue, deps.clock);
    this.#deps = { ...deps, queue: this.#acceptance };
    const { resyncMs, heartbeatMs, pageSize } = limitsOf(deps).relay;
    this.#options = { resyncMs, heartbeatMs, pageSize, drainMs: 4_000, failFast: false, clusterset: false, outbox: {}, revision: '', ...options };
  }

  /** Resolves when the signal has been aborted and the outbox is drained or dropped. Rejects with UnorderedVersions or NotAuthorised. */
  async run(stop: AbortSignal): Promise<void> {
    const { election } = this.#deps;
    const ended = new AbortController();
    const elected = election?.run(this.#candidate(), ended.signal).catch(() => {});
    try {
      await this.#runSessions(stop);
    } finally {
      ended.abort(new Error('the relay ends'));
      await elected;
      if (election) await this.#within(giveBackMs, (late) => election.giveBack(this.#left, late));
    }
  }

  /** The view of the cluster that is under way. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** Could this relay lead without listing first? In the leader: has the queue accepted all first lists? */
  get isReady(): boolean {
    return this.#session?.reflectors.every((r) => r.isReady) ?? false;
  }

  /** Does this relay send, or is it a standby? */
  get isLeading(): boolean {
    return this.#session?.outbox.leaderHeader !== undefined;
  }

  /** Reflectors without activity for that long. An unreachable API server or queue makes no reflector stuck: it retries. */
  stuck(forMs: number): Kind[] {
    const now = this.#deps.clock.now();
    return (this.#session?.reflectors ?? []).filter((r) => r.idleMs(now) > forMs).map((r) => r.kind);
  }

  gauges(): Gauge[] {
    const waiting = this.#session?.outbox.waiting ?? 0;
    const served = this.#session?.served ?? [];
    return [
      { name: 'relay_waiting_objects', help: 'objects that wait to be sent, by this relay or the leader', values: [['', waiting]] },
      { name: 'relay_ready', help: '1 when every first list has been sent; in a standby, read', values: [['', this.isReady ? 1 : 0]] },
      {
        name: 'relay_speaking',
        help: '1 when this relay leads and sends to the hub, 0 when it is a standby',
        values: [['', this.isLeading ? 1 : 0]],
      },
      ...(served.length === 0
        ? []
        : [
            {
              name: 'relay_kind_served',
              help: '1 for a kind of the clusterset that the cluster serves; 0: what it exports or imports is left as it was',
              values: served.map(([kind, isServed]) => [`{kind="${kind}"}`, isServed ? 1 : 0] as const),
            },
          ]),
    ];
  }

  async #runSessions(stop: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    let wentBackAt: number | undefined;
    while (!stop.aborted) {
      try {
        await this.#runSession(wentBackAt, stop);
      } catch (e) {
        if (stop.aborted) return;
        if (!(e instanceof ClusterReplaced || e instanceof QueueReplaced)) throw e;
        log.warn(`${e instanceof QueueReplaced ? 'queue' : 'cluster'} is another one, beginning a new session`, { reason: e.message });
        wentBackAt = e instanceof ClusterReplaced && e.wentBack ? Math.round(clock.now()) : undefined;
        this.#left = undefined;
        await sleep(clock, 1000, stop).catch(() => {});
      }
    }
  }

  async #runSession(wentBackAt: number | undefined, stop: AbortSignal): Promise<void> {
    const { clock, log, meter, limits } = this.#deps;
    const failFast = this.#options.failFast && !this.#everListed;
    const identity = await identify(this.#deps, failFast, stop);
    const ended = new AbortController();
    const signal = AbortSignal.any([stop, ended.signal]);
    const session = new Session({ ...this.#deps, published: this.#published }, { ...this.#options, failFast }, identity, wentBackAt);
    this.#session = session;
    meter.count('relay_sessions_total');
    const tired = clock.after(limitsOf({ limits }).election.untoldMs, () => session.outbox.onNoLeader());
    const work = session.run(this.#turns, signal);
    const reopened = new Promise<never>((_, reject) => {
      this.#acceptance.onReopened = () => reject(new QueueReplaced('it refused this relay, or was not there, and now accepts again'));
    });
    try {
      await Promise.race([work, reopened]);
    } finally {
      tired();
      this.#everListed ||= session.reflectors.every((r) => r.isListed);
      ended.abort(new Error('the session is over'));
      const drained = this.#within(this.#options.drainMs, (late) => session.outbox.waitUntilDrained(late));
      await this.#within(this.#options.drainMs, () => Promise.allSettled([work]));
      if (stop.aborted && !(await drained))
        log.warn('relay stopped with unsent objects: the next leader sends them', { waiting: session.outbox.waiting });
      this.#left = this.#tell(session);
      this.#session = undefined;
      session.outbox.close();
    }
  }

  /** The relay as the election's candidate. */
  #candidate(): Candidate {
    return {
      lead: () => {
        if (!this.isLeading) this.#acceptance.begin();
        this.#turns.notifyAll();
      },
      standBy: () => this.#session?.outbox.standBy(),
      isReady: () => this.isReady,
      accepted: () => {
        const accepted = this.#session && this.#tell(this.#session);
        this.#published.writing(accepted);
        return accepted;
      },
      inherited: (accepted) => {
        const inherited = this.#session && accepted && { ...accepted, versions: this.#session.inherited(accepted) };
        this.#published.writing(inherited);
        return inherited;
      },
      published: (accepted) => this.#published.written(accepted),
      onLeaderAccepted: ({ uid, revision, versions }) => {
        const session = this.#session;
        if (!session) return;
        if (uid === session.identity.uid && revision === this.#options.revision) session.outbox.onLeaderAccepted(versions);
        else session.outbox.onNoLeader();
      },
      queueState: () => ({ failingMs: this.#acceptance.failingMs, accepted: this.#acceptance.accepted }),
    };
  }

  #tell(session: Session): Accepted | undefined {
    if (this.#acceptance.isShut) return undefined;
    return { uid: session.identity.uid, revision: this.#options.revision, versions: session.accepted() };
  }

  /** False on a timeout: a queue that does not answer must not keep the process from ending. */
  async #within(ms: number, task: (late: AbortSignal) => Promise<unknown>): Promise<boolean> {
    const late = new AbortController();
    const ended = new Promise<boolean>((resolve) => late.signal.addEventListener('abort', () => resolve(false), { once: true }));
    const cancel = this.#deps.clock.after(ms, () => late.abort(new Error('too late')));
    const done = task(late.signal).then(
      () => true,
      () => false,
    );
    return Promise.race([done, ended]).finally(cancel);
  }
}
