/** One view of the cluster, with its outbox, its reflectors and its heartbeats. It ends when the cluster or the queue is another one (relay.ts). */
import { limitsOf } from '#shared/contract/limits.ts';
import { clustersetKinds, inputKinds, type Kind, kinds } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { type EventsHeader, type HeartbeatMessage, messageVersion } from '#shared/queue/messages.ts';
import type { Accepted } from './election/lease.ts';
import type { Published } from './election/published.ts';
import { Outbox } from './outbox/outbox.ts';
import { SentIndex } from './projection/sent-index.ts';
import { OptionalReflector } from './reflector/optional-reflector.ts';
import { Reflector } from './reflector/reflector.ts';
import type { RelayDeps, RelayOptions } from './relay-deps.ts';
import { sleep, unlessAborted } from './runtime/clock.ts';
import type { Condition } from './runtime/condition.ts';
import { Mutex } from './runtime/mutex.ts';
import { ClusterReplaced } from './runtime/relay-errors.ts';
import { type Identity, identify } from './source/identify.ts';
import { IdentityCheck } from './source/identity-check.ts';
import { isNewer } from './source/resource-version.ts';

/** A heartbeat that failed is repeated soon where a standby could take over: the next one shows whether the queue is reachable. */
const beatAgainMs = 1_000;
/** A source of imports counts again with the second heartbeat after a silence (docs/clusterset.md), so that one comes sooner than those that follow. */
const returnMs = 15_000;
/** Without a standby: less of a burden to a queue that is in trouble. */
const beatAgainAloneMs = 5_000;

export interface SessionDeps extends RelayDeps {
  readonly published: Published;
}

/**
 * One view of the cluster. Its messages carry a header that tells the hub where in the cluster's history the view begins. A single relay has one header for
 * the whole view; with an election each term of this relay as leader has a header of its own.
 */
export class Session {
  readonly identity: Identity;
  readonly outbox: Outbox;
  readonly reflectors: readonly Reflector[];
  /** A relay is ready without these. */
  readonly #optional: readonly OptionalReflector[];
  readonly #deps: RelayDeps;
  readonly #options: Required<RelayOptions>;
  readonly #wentBackAt: number | undefined;

  constructor(deps: SessionDeps, options: Required<RelayOptions>, identity: Identity, wentBackAt: number | undefined) {
    const { election } = deps;
    this.#deps = deps;
    this.#options = options;
    this.identity = identity;
    this.#wentBackAt = wentBackAt;
    this.outbox = new Outbox({ ...deps, ...(election && { maySend: () => election.isLeading }) }, undefined, options.outbox);
    const { outputs, resyncMs, pageSize, failFast, clusterset } = options;
    const sentIndex = new SentIndex({ ...deps, outputs });
    const reflectorDeps = { ...deps, outbox: this.outbox, sentIndex, listMutex: new Mutex(), identityCheck: new IdentityCheck(deps, identity.uid) };
    // Shadow mode compares whole outputs: they are listed as often as the inputs.
    const outputsResyncMs = outputs === 'full' ? resyncMs : Math.max(resyncMs, limitsOf(deps).relay.outputsResyncMs);
    this.reflectors = kinds.map((kind) => {
      const ofKind = (inputKinds as readonly Kind[]).includes(kind) ? resyncMs : outputsResyncMs;
      return new Reflector(kind, reflectorDeps, { base: identity.base, resyncMs: ofKind, pageSize, failFast });
    });
    const optional = clusterset ? clustersetKinds : [];
    this.#optional = optional.map((kind) => new OptionalReflector(kind, reflectorDeps, { base: identity.base, resyncMs, pageSize }));
  }

  /** Runs until the signal is aborted or the cluster turns out to be another one. `turns` is notified when this relay may have become the leader. */
  async run(turns: Condition, signal: AbortSignal): Promise<void> {
    await Promise.all([...[...this.reflectors, ...this.#optional].map((r) => r.run(signal)), this.#speakInTurn(turns, signal)]);
  }

  /** Of the kinds that a cluster may be without: which of them it serves. */
  get served(): readonly (readonly [kind: Kind, isServed: boolean])[] {
    return this.#optional.map(({ kind, isServed }) => [kind, isServed]);
  }

  /** By kind, the version up to which the queue is known to have accepted every entry. */
  accepted(): { readonly [K in Kind]?: string } {
    const leads = this.outbox.leaderHeader !== undefined;
    return Object.fromEntries(
      kinds.flatMap((kind) => {
        const version = this.outbox.queueOf(kind).publishable(leads);
        return version === undefined ? [] : [[kind, version]];
      }),
    );
  }

  /** Of the versions that another relay has published, those that still hold when this one leads. */
  inherited({ uid, versions }: Accepted): Accepted['versions'] {
    if (uid !== this.identity.uid) return {};
    return Object.fromEntries(Object.entries(versions).filter(([kind]) => this.outbox.queueOf(kind as Kind).needsNoList));
  }

  async #speakInTurn(turns: Condition, signal: AbortSignal): Promise<void> {
    const { election, log, meter } = this.#deps;
    for (let identity: Identity | undefined = election ? undefined : this.identity; ; identity = undefined) {
      if (election) await turns.waitUntil(() => election.isLeading && this.outbox.leaderHeader === undefined, signal);
      identity ??= await this.#identifyAgain(signal);
      if (election && !election.isLeading) continue;
      const header = this.#header(identity);
      this.outbox.lead(header);
      meter.count('relay_turns_total');
      log.info('session begun', { session: header.session, uid: header.uid, base: header.base });
      try {
        await this.#beat(header, AbortSignal.any([signal, this.outbox.termEnds]));
      } catch {
        signal.throwIfAborted();
      }
    }
  }

  /** Reads the current base: one that is older than the former leader's messages would look like a restored cluster to the hub. */
  async #identifyAgain(signal: AbortSignal): Promise<Identity> {
    const identity = await identify(this.#deps, false, signal);
    if (identity.uid !== this.identity.uid)
      throw new ClusterReplaced(`kube-system was ${this.identity.uid} and is ${identity.uid}`, { wentBack: false });
    const read = this.reflectors.find((r) => r.kind === 'Service')?.high;
    if (read !== undefined && isNewer(read, identity.base))
      throw new ClusterReplaced(`Service is at ${identity.base} after ${read}`, { wentBack: true });
    return identity;
  }

  #header({ uid, base }: Identity): EventsHeader {
    // If no kind needs a list, the former leader has already sent the history that this relay has read.
    const queues = kinds.map((kind) => this.outbox.queueOf(kind));
    const isUnsentHistory =
      this.#wentBackAt !== undefined && queues.some((kindQueue) => kindQueue.readUpTo === undefined || kindQueue.listNeededAt !== undefined);
    const more = isUnsentHistory ? { wentBackAt: this.#wentBackAt } : {};
    return { v: messageVersion, cluster: this.#options.cluster, session: this.#deps.newId(), uid, base, ...more };
  }

  /** One heartbeat at a time, without retries: the next one has newer versions. */
  async #beat(header: EventsHeader, signal: AbortSignal): Promise<void> {
    const { queue, clock, meter, election } = this.#deps;
    for (let isFirst = true; ; ) {
      if (election?.isLeading === false) this.outbox.standBy();
      signal.throwIfAborted();
      const high = Object.fromEntries([...this.reflectors, ...this.#optional].flatMap((r) => (r.high === undefined ? [] : [[r.kind, r.high]])));
      const message: HeartbeatMessage = { ...header, type: 'heartbeat', high, at: Math.round(clock.now()), waiting: this.outbox.waiting };
      let again = this.#options.heartbeatMs;
      try {
        await unlessAborted(queue.send([{ body: encodeMessage(message) }]), signal);
        meter.count('relay_heartbeats_total');
        if (isFirst) again = Math.min(again, returnMs);
        isFirst = false;
      } catch {
        signal.throwIfAborted();
        meter.count('relay_queue_errors_total');
        again = Math.min(again, election ? beatAgainMs : beatAgainAloneMs);
        isFirst = true;
      }
      await sleep(clock, again, signal);
    }
  }
}
