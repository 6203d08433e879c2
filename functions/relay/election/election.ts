/** The Lease by which one of a cluster's relays leads: takes it, renews it and gives it back. */
import { sleep } from '../runtime/clock.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type ElectionState, freeAtMs, type Lease, nextStep } from './lease.ts';
import type { LeaseStore } from './lease-store.ts';

export interface ElectionDeps extends Runtime {
  readonly store: LeaseStore;
  /** Unique to this process. */
  readonly id: string;
}

/** The relay as the election's candidate. */
export interface Candidate {
  /** This relay leads. Called after each renewal. */
  lead(): void;
  /** This relay leads no longer. */
  standBy(): void;
  /**
   * How long the queue has accepted no message although some were sent, and the number of calls it has
   * accepted so far.
   */
  queueState(): { readonly failingMs: number; readonly accepted: number };
}

/** Longest time until a relay releases the Lease again because of the queue, ms. */
const maxQueueFailureTimeoutMs = 60_000;
/** A relay that released the Lease because of the queue does not take it for this long, ms. */
const reacquireDelayMs = 3_000;

/** Takes, renews and gives back the Lease, and notifies the candidate. lease.ts decides the steps. */
export class Election {
  readonly #deps: ElectionDeps;
  #state: ElectionState;
  /**
   * Number of calls that the queue had accepted when this relay last released the Lease for an unreachable
   * queue.
   */
  #acceptedBefore: number | undefined;

  constructor(deps: ElectionDeps) {
    this.#deps = deps;
    const { queueFailureTimeoutMs } = deps.limits.election;
    this.#state = {
      id: deps.id,
      observed: undefined,
      leadsUntilMs: undefined,
      reacquiresAtMs: Number.NEGATIVE_INFINITY,
      queueFailingMs: 0,
      queueFailureTimeoutMs,
    };
  }

  /** Evaluated just before each send: a process that was paused past its lease must not send any more. */
  get isLeading(): boolean {
    const { leadsUntilMs } = this.#state;
    return leadsUntilMs !== undefined && this.#deps.clock.monotonic() < leadsUntilMs;
  }

  /** Has the Lease been read or written? */
  get hasObserved(): boolean {
    return this.#state.observed !== undefined;
  }

  /** Runs until the signal is aborted, and rejects with its reason. */
  async run(candidate: Candidate, signal: AbortSignal): Promise<void> {
    const { clock, log, meter } = this.#deps;
    const { retryPeriodMs } = this.#deps.limits.election;
    for (;;) {
      signal.throwIfAborted();
      const from = clock.monotonic();
      try {
        await this.#turn(candidate, signal);
      } catch (error) {
        signal.throwIfAborted();
        meter.count('relay_lease_errors_total');
        log.warn('lease cannot be read or renewed', { holds: this.isLeading, error: String(error) });
      }
      // The lease expired while the API server did not answer.
      if (this.#state.leadsUntilMs !== undefined && !this.isLeading)
        this.#stop(candidate, 'not renewed in time');
      await sleep(clock, Math.max(100, this.#untilNext(retryPeriodMs, clock.monotonic() - from)), signal);
    }
  }

  /**
   * Gives back the Lease, so that a standby need not wait for its end. Call it when the outbox is drained or
   * dropped.
   */
  async giveBack(signal: AbortSignal): Promise<void> {
    const { observed, id } = this.#state;
    this.#state = { ...this.#state, leadsUntilMs: undefined };
    if (observed?.lease.holder !== id) return;
    await this.#write({ holder: '', lease: observed.lease, taken: false }, signal);
  }

  async #turn(candidate: Candidate, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const { failingMs: queueFailingMs, accepted } = candidate.queueState();
    const { queueFailureTimeoutMs } = this.#deps.limits.election;
    this.#state = {
      ...this.#state,
      queueFailingMs,
      ...(accepted !== this.#acceptedBefore && { queueFailureTimeoutMs }),
    };
    let step = nextStep(this.#state, clock.monotonic());
    if (step === 'lost') this.#stop(candidate, 'not renewed in time');
    if (this.#state.leadsUntilMs === undefined) {
      this.#observe(await this.#deps.store.read(signal));
      step = nextStep(this.#state, clock.monotonic());
    }
    if (step === 'give back') await this.#handOver(candidate, signal);
    if (step === 'renew' || step === 'take' || step === 'create') await this.#hold(candidate, step, signal);
  }

  async #hold(candidate: Candidate, step: 'renew' | 'take' | 'create', signal: AbortSignal): Promise<void> {
    const { clock, log, id } = this.#deps;
    const { renewDeadlineMs } = this.#deps.limits.election;
    const from = clock.monotonic();
    const former = this.#state.observed?.lease;
    const held = this.#state.leadsUntilMs !== undefined;
    const to = { holder: id, taken: step !== 'renew' };
    let written = await this.#write({ ...to, lease: former }, signal);
    if (!written) {
      // Another relay has written the Lease first, or this one has and the answer was lost.
      this.#observe(await this.#deps.store.read(signal));
      const { observed } = this.#state;
      if (observed?.lease.holder === id)
        written = await this.#write({ ...to, lease: observed.lease }, signal);
    }
    if (!written) return this.#stop(candidate, 'another has written it');
    this.#state = { ...this.#state, leadsUntilMs: from + renewDeadlineMs };
    if (!held) log.info('lease taken', { former: former?.holder ?? '', transitions: written.transitions });
    candidate.lead();
  }

  /** The queue accepts nothing from this node: another relay may be able to reach it. */
  async #handOver(candidate: Candidate, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    const { accepted, failingMs } = candidate.queueState();
    // Without this growth two relays without a way to the queue would swap the Lease every few seconds.
    const queueFailureTimeoutMs = Math.min(maxQueueFailureTimeoutMs, this.#state.queueFailureTimeoutMs * 2);
    this.#stop(candidate, 'the queue accepts nothing', { failingMs: Math.round(failingMs) });
    this.#acceptedBefore = accepted;
    this.#state = {
      ...this.#state,
      queueFailureTimeoutMs,
      reacquiresAtMs: clock.monotonic() + reacquireDelayMs,
    };
    log.warn('lease released', { queueFailureTimeoutMs });
    await this.giveBack(signal);
  }

  #stop(candidate: Candidate, reason: string, fields: object = {}): void {
    if (this.#state.leadsUntilMs === undefined) return;
    this.#state = { ...this.#state, leadsUntilMs: undefined };
    this.#deps.log.warn('standing by', { reason, ...fields });
    candidate.standBy();
  }

  /** Undefined when the Lease has changed since it was read. */
  async #write(
    to: { readonly holder: string; readonly lease: Lease | undefined; readonly taken: boolean },
    signal: AbortSignal,
  ): Promise<Lease | undefined> {
    const { holder, lease, taken } = to;
    const content = {
      holder,
      durationMs: this.#deps.limits.election.leaseDurationMs,
      transitions: (lease?.transitions ?? 0) + (taken && lease ? 1 : 0),
    };
    const written = await this.#deps.store.write(content, lease, taken, signal);
    if (written) this.#observe(written);
    return written;
  }

  #observe(lease: Lease | undefined): void {
    const { observed } = this.#state;
    const same = lease !== undefined && observed?.lease.resourceVersion === lease.resourceVersion;
    this.#state = {
      ...this.#state,
      observed: lease && { lease, sinceMs: same ? observed.sinceMs : this.#deps.clock.monotonic() },
    };
  }

  /** A standby reads the Lease again when it expires, if that is sooner. */
  #untilNext(everyMs: number, tookMs: number): number {
    const { observed, id, leadsUntilMs } = this.#state;
    const next = everyMs - tookMs;
    if (leadsUntilMs !== undefined || observed === undefined || observed.lease.holder === id) return next;
    return Math.min(next, freeAtMs(observed) - this.#deps.clock.monotonic());
  }
}
