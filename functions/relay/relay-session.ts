/** A session: one view of the cluster, with its outbox, reflectors and heartbeats (relay.ts). */
import { isKubernetesVersion } from '#shared/kube/kubernetes-version.ts';
import { clustersetKinds, isInput, type Kind, kinds } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { type HeartbeatMessage, messageVersion } from '#shared/queue/messages.ts';
import { NotLeading } from './outbox/delivery.ts';
import { Outbox } from './outbox/outbox.ts';
import { SentIndex } from './projection/sent-index.ts';
import { OptionalReflector } from './reflector/optional-reflector.ts';
import { Reflector } from './reflector/reflector.ts';
import type { RelayDeps, RelayOptions } from './relay-deps.ts';
import { sleep, unlessAborted } from './runtime/clock.ts';
import { Mutex } from './runtime/mutex.ts';
import type { Identity } from './source/identify.ts';
import { IdentityCheck } from './source/identity-check.ts';

/**
 * Delay after a failed heartbeat, ms. The next heartbeat shows whether the queue is reachable, and whether a
 * standby is to take over.
 */
const beatAgainMs = 1_000;
/**
 * Delay of the second heartbeat, ms. A silent source of imports counts again with it (docs/use/clusterset.md), so
 * it comes sooner than later heartbeats.
 */
const returnMs = 15_000;

export interface SessionDeps extends RelayDeps {
  /** Evaluated just before each send; absent without an election. */
  readonly maySend?: (() => boolean) | undefined;
  /** Shared by the sessions of a process (reflector-deps.ts). */
  readonly answered: Map<Kind, string>;
}

/** The header of its messages shows the hub where in the cluster's history the session begins. */
export class Session {
  readonly outbox: Outbox;
  readonly reflectors: readonly Reflector[];
  /** A relay is ready without these. */
  readonly #optional: readonly OptionalReflector[];
  readonly #sentIndex: SentIndex;
  readonly #deps: SessionDeps;

  constructor(
    deps: SessionDeps,
    options: Required<RelayOptions>,
    { uid, firstListVersion }: Identity,
    historyRewoundAtMs?: number,
  ) {
    this.#deps = deps;
    const since = historyRewoundAtMs !== undefined && { historyRewoundAtMs };
    const header = {
      v: messageVersion,
      cluster: options.cluster,
      session: deps.newId(),
      uid,
      firstListVersion,
      ...since,
    };
    this.outbox = new Outbox(
      deps,
      header,
      (kind) => this.#readers.find((reader) => reader.kind === kind)?.readUpTo,
    );
    const { outputs, resyncMs, clusterset } = options;
    const sentIndex = new SentIndex({
      ...deps,
      outputs,
      putForAnswers: (key, entry) => this.outbox.putForAnswers('Pod', key, entry),
    });
    this.#sentIndex = sentIndex;
    const reflectorDeps = {
      ...deps,
      outbox: this.outbox,
      sentIndex,
      listMutex: new Mutex(),
      identityCheck: new IdentityCheck(deps.source, uid),
    };
    // Shadow mode compares whole outputs: they are listed as often as the inputs.
    const outputsResyncMs =
      outputs === 'full' ? resyncMs : Math.max(resyncMs, deps.limits.relay.outputsResyncMs);
    this.reflectors = kinds.map((kind) => {
      const ofKind = isInput(kind) ? resyncMs : outputsResyncMs;
      return new Reflector(kind, reflectorDeps, { firstListVersion, resyncMs: ofKind });
    });
    const optional = clusterset ? clustersetKinds : [];
    this.#optional = optional.map(
      (kind) => new OptionalReflector(kind, reflectorDeps, { firstListVersion, resyncMs }),
    );
  }

  /** Runs until the signal is aborted or the cluster turns out to be another one. */
  async run(signal: AbortSignal): Promise<void> {
    const { uid, firstListVersion, session } = this.outbox.header;
    this.#deps.log.info('session begun', { session, uid, firstListVersion });
    try {
      await Promise.all([...this.#readers.map((r) => r.run(signal)), this.#beat(signal)]);
    } finally {
      this.#sentIndex.close();
    }
  }

  get #readers(): readonly (Reflector | OptionalReflector)[] {
    return [...this.reflectors, ...this.#optional];
  }

  /** The optional kinds, and whether the cluster serves them. */
  get served(): readonly (readonly [kind: Kind, isServed: boolean])[] {
    return this.#optional.map(({ kind, isServed }) => [kind, isServed]);
  }

  /** One heartbeat at a time, without retries: the next one has newer versions. */
  async #beat(signal: AbortSignal): Promise<void> {
    const { source, clock, maySend } = this.#deps;
    let kubernetesVersion: string | undefined;
    // The call is not awaited, because an API server that does not answer must not delay a heartbeat.
    const readVersion = (): void =>
      void source.version(signal).then(
        (version) => {
          kubernetesVersion = version;
        },
        () => {},
      );
    readVersion();
    for (let isFirst = true; ; ) {
      if (maySend?.() === false) throw new NotLeading('another relay leads');
      signal.throwIfAborted();
      const isSent = await this.#sendHeartbeat(kubernetesVersion, signal);
      if (isSent) readVersion();
      const { heartbeatMs } = this.#deps.limits.relay;
      const soonerMs = isSent ? (isFirst ? returnMs : heartbeatMs) : beatAgainMs;
      isFirst = !isSent;
      await sleep(clock, Math.min(heartbeatMs, soonerMs), signal);
    }
  }

  /** Resolves to false if the queue has not accepted it. */
  async #sendHeartbeat(kubernetesVersion: string | undefined, signal: AbortSignal): Promise<boolean> {
    const { queue, clock, meter } = this.#deps;
    const { annotated, delays } = this.#sentIndex;
    const readUpTo = Object.fromEntries(
      this.#readers.flatMap((r) => (r.high === undefined ? [] : [[r.kind, r.high]])),
    );
    const { removals } = delays.report;
    const endpointDelays = delays.report.take();
    const message: HeartbeatMessage = {
      ...this.outbox.header,
      type: 'heartbeat',
      readUpTo,
      sentAtMs: Math.round(clock.now()),
      ...(isKubernetesVersion(kubernetesVersion) && { kubernetesVersion }),
      ...(annotated && { annotated }),
      ...(endpointDelays && { endpointDelays }),
      ...(removals && { removals }),
    };
    try {
      await unlessAborted(queue.send([{ body: encodeMessage(message) }]), signal);
      meter.count('relay_heartbeats_total');
      return true;
    } catch {
      signal.throwIfAborted();
      if (endpointDelays) delays.report.giveBack(endpointDelays);
      meter.count('relay_queue_errors_total');
      return false;
    }
  }
}
