/** The Lease by which one of a cluster's relays leads: takes it, renews it, gives it up, and publishes in it what the queue has accepted. */
import { type Limits, limitsOf } from '#shared/contract/limits.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import type { Meter } from '../runtime/meter.ts';
import { type Accepted, freeAtMs, type Lease, nextStep, type Standing } from './lease.ts';
import type { LeaseStore } from './lease-store.ts';

export interface ElectionDeps {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly limits?: Limits;
  /** Unique to this process. */
  readonly id: string;
}

/** The relay as the election's candidate. */
export interface Candidate {
  /** This relay leads. Called after each renewal. */
  lead(): void;
  /** This relay leads no longer. */
  standBy(): void;
  /** Could this relay lead without listing first? */
  isReady(): boolean;
  /** The accepted versions to publish to the standbys. */
  accepted(): Accepted | undefined;
  /** Of the versions that the former leader has published, those that still hold when this relay leads: none of a kind that it has to list. */
  inherited(accepted: Accepted | undefined): Accepted | undefined;
  /** The Lease has been written with these versions in the name of this relay. */
  published(accepted: Accepted | undefined): void;
  /** The versions that the leader has published. */
  onLeaderAccepted(accepted: Accepted): void;
  /** How long the queue has accepted no message although some were sent, and the number of calls it has accepted so far. */
  queueState(): { readonly failingMs: number; readonly accepted: number };
}

/** Takes, renews and gives back the Lease, and notifies the candidate. lease.ts decides the steps. */
export class Election {
  readonly #deps: ElectionDeps;
  #standing: Standing;
  /** The number of calls that the queue had accepted when the Lease was last given back because the queue was unreachable. */
  #acceptedBefore: number | undefined;

  constructor(deps: ElectionDeps) {
    this.#deps = deps;
    const { patienceMs } = limitsOf(deps).election;
    const never = Number.NEGATIVE_INFINITY;
    this.#standing = { id: deps.id, observed: undefined, leadsUntilMs: undefined, abstainsUntilMs: never, failingMs: 0, patienceMs, coldMs: 0 };
  }

  /** Evaluated just before each send: a process that was paused past its lease must not send any more. */
  get isLeading(): boolean {
    const { leadsUntilMs } = this.#standing;
    return leadsUntilMs !== undefined && this.#deps.clock.monotonic() < leadsUntilMs;
  }

  /** Runs until the signal is aborted, and rejects with its reason. */
  async run(candidate: Candidate, signal: AbortSignal): Promise<void> {
    const { clock, log, meter } = this.#deps;
    const { renewMs, lookMs, abstainMs } = limitsOf(this.#deps).election;
    this.#standing = { ...this.#standing, abstainsUntilMs: clock.monotonic() + abstainMs };
    for (;;) {
      signal.throwIfAborted();
      const from = clock.monotonic();
      let renewed = false;
      try {
        renewed = await this.#turn(candidate, signal);
      } catch (error) {
        signal.throwIfAborted();
        meter.count('relay_lease_errors_total');
        log.warn('lease cannot be read or renewed', { holds: this.isLeading, error: String(error) });
      }
      // The lease expired while the API server did not answer.
      if (this.#standing.leadsUntilMs !== undefined && !this.isLeading) this.#stop(candidate, 'not renewed in time');
      await sleep(clock, Math.max(100, this.#untilNext(renewed ? renewMs : lookMs, clock.monotonic() - from)), signal);
    }
  }

  /** Gives back the Lease, so that a standby need not wait for its end. To be called when the outbox is drained or dropped. */
  async giveBack(accepted: Accepted | undefined, signal: AbortSignal): Promise<void> {
    const { observed, id } = this.#standing;
    this.#standing = { ...this.#standing, leadsUntilMs: undefined };
    if (observed?.lease.holder !== id) return;
    await this.#write({ holder: '', lease: observed.lease, accepted, taken: false }, signal);
  }

  /** True if the lease was taken or renewed. */
  async #turn(candidate: Candidate, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#deps;
    const { failingMs, accepted } = candidate.queueState();
    const coldMs = candidate.isReady() ? 0 : limitsOf(this.#deps).election.coldMs;
    this.#standing = {
      ...this.#standing,
      failingMs,
      coldMs,
      ...(accepted !== this.#acceptedBefore && { patienceMs: limitsOf(this.#deps).election.patienceMs }),
    };
    let step = nextStep(this.#standing, clock.monotonic());
    if (step === 'lost') this.#stop(candidate, 'not renewed in time');
    if (this.#standing.leadsUntilMs === undefined) {
      this.#see(await this.#deps.store.read(signal));
      const { observed, id } = this.#standing;
      if (observed?.lease.accepted && observed.lease.holder !== id) candidate.onLeaderAccepted(observed.lease.accepted);
      step = nextStep(this.#standing, clock.monotonic());
    }
    if (step === 'give back') await this.#handOver(candidate, signal);
    return step === 'renew' || step === 'take' || step === 'create' ? this.#hold(candidate, step, signal) : false;
  }

  async #hold(candidate: Candidate, step: 'renew' | 'take' | 'create', signal: AbortSignal): Promise<boolean> {
    const { clock, log, id } = this.#deps;
    const { trustMs } = limitsOf(this.#deps).election;
    const from = clock.monotonic();
    const former = this.#standing.observed?.lease;
    const held = this.#standing.leadsUntilMs !== undefined;
    // Published before this relay sends the first page of a list: otherwise the next leader might not know that a list has begun.
    const to = { holder: id, accepted: held ? candidate.accepted() : candidate.inherited(former?.accepted), taken: step !== 'renew' };
    let written = await this.#write({ ...to, lease: former }, signal);
    if (!written) {
      // Another relay has written the Lease first, or this one has and the answer was lost.
      this.#see(await this.#deps.store.read(signal));
      const { observed } = this.#standing;
      if (observed?.lease.holder === id) written = await this.#write({ ...to, lease: observed.lease }, signal);
    }
    if (!written) {
      this.#stop(candidate, 'another has written it');
      return false;
    }
    this.#standing = { ...this.#standing, leadsUntilMs: from + trustMs };
    candidate.published(to.accepted);
    if (!held) log.info('lease taken', { former: former?.holder ?? '', transitions: written.transitions });
    candidate.lead();
    return true;
  }

  /** The queue accepts nothing from this node: another relay may be able to reach it. */
  async #handOver(candidate: Candidate, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    const { mostPatienceMs, abstainMs } = limitsOf(this.#deps).election;
    const { accepted, failingMs } = candidate.queueState();
    // Without it two relays that are both cut off from the queue would swap the Lease every few seconds.
    const patienceMs = Math.min(mostPatienceMs, this.#standing.patienceMs * 2);
    const known = candidate.accepted();
    this.#stop(candidate, 'the queue accepts nothing', { failingMs: Math.round(failingMs) });
    this.#acceptedBefore = accepted;
    this.#standing = { ...this.#standing, patienceMs, abstainsUntilMs: clock.monotonic() + abstainMs };
    log.warn('lease given back', { patienceMs });
    await this.giveBack(known, signal);
  }

  #stop(candidate: Candidate, reason: string, fields: object = {}): void {
    if (this.#standing.leadsUntilMs === undefined) return;
    this.#standing = { ...this.#standing, leadsUntilMs: undefined };
    this.#deps.log.warn('standing by', { reason, ...fields });
    candidate.standBy();
  }

  /** Undefined when the Lease has changed since it was read. */
  async #write(
    to: { readonly holder: string; readonly lease: Lease | undefined; readonly accepted: Accepted | undefined; readonly taken: boolean },
    signal: AbortSignal,
  ): Promise<Lease | undefined> {
    const { holder, lease, accepted, taken } = to;
    const content = {
      holder,
      durationMs: limitsOf(this.#deps).election.leaseMs,
      transitions: (lease?.transitions ?? 0) + (taken && lease ? 1 : 0),
      accepted,
    };
    const written = await this.#deps.store.write(content, lease, taken, signal);
    if (written) this.#see(written);
    return written;
  }

  #see(lease: Lease | undefined): void {
    const { observed } = this.#standing;
    const same = lease !== undefined && observed?.lease.resourceVersion === lease.resourceVersion;
    this.#standing = { ...this.#standing, observed: lease && { lease, sinceMs: same ? observed.sinceMs : this.#deps.clock.monotonic() } };
  }

  /** A standby reads the Lease again when it expires, if that is sooner. */
  #untilNext(everyMs: number, tookMs: number): number {
    const { observed, id, leadsUntilMs, coldMs } = this.#standing;
    const next = everyMs - tookMs;
    if (leadsUntilMs !== undefined || observed === undefined || observed.lease.holder === id) return next;
    return Math.min(next, freeAtMs(observed) + coldMs - this.#deps.clock.monotonic());
  }
}
