/**
 * A cluster and the hub in memory and in virtual time: the embedded API server's rules, the real ingest, sync
 * and sweep, and a relay without a network that sends what the real one projects. Everything happens in the
 * order of its time; nothing waits for a clock.
 */

import { freshCaches } from '#functions/ingest/batch/warm-caches.ts';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { Outbox } from '#functions/relay/outbox/outbox.ts';
import {
  deletedInput,
  inputEntry,
  type Outputs,
  outputEntry,
  relayKey,
} from '#functions/relay/projection/entries.ts';
import { isEcho } from '#functions/relay/projection/own-write.ts';
import { SentIndex } from '#functions/relay/projection/sent-index.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import type { KubeObject } from '#functions/relay/source/watch-source.ts';
import { sweep } from '#functions/sweep/sweep.ts';
import { eventRecorder } from '#functions/sync/aftermath/kube-events.ts';
import { runsInPlace } from '#functions/sync/run-in-place.ts';
import { syncBatch } from '#functions/sync/wake-up-batch.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import type { Mode } from '#shared/clusters/writer/mode.ts';
import type { ClusterSettings } from '#shared/contract/cluster-settings.ts';
import type { EndpointDelayReport } from '#shared/contract/endpoint-delay.ts';
import { defaultLimits, type Limits } from '#shared/contract/limits.ts';
import type { ClusterMetrics } from '#shared/contract/metrics.ts';
import type { OptIn } from '#shared/controllers/opt-in/writer.ts';
import { fieldManagerOf } from '#shared/kube/names.ts';
import { isInput, type Kind, kinds } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { encodeParts } from '#shared/queue/list-parts.ts';
import { type EventsHeader, type EventsMessage, messageVersion } from '#shared/queue/messages.ts';
import type { MessageQueue, OutgoingMessage } from '#shared/queue/port.ts';
import { retrySoon } from '#shared/queue/visibility.ts';
import { NamespacePods, type Pods } from '#shared/store/inputs/namespace-pods.ts';
import type { Item } from '#shared/store/table.ts';
import type { Log, Metrics } from '#shared/telemetry/port.ts';
import { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import { WakePace } from '#shared/workqueue/wake-pace.ts';
import { memoryClusterApi } from './memory/cluster-memory.ts';
import { memoryClusterQueues } from './memory/queue-memory.ts';
import { memoryTable } from './memory/table-memory.ts';

export const cluster = 'c';

/** A run saves each output as a body, because no delta fits. */
export const bodiesOnly: Limits = { ...defaultLimits, sync: { ...defaultLimits.sync, unitBytes: 1 } };

const { pageSize } = defaultLimits.relay;

export interface HubWorldOptions {
  /** `c` by default. */
  readonly id?: string;
  readonly sweepEveryMs?: number;
  readonly given: readonly RawObject[];
  readonly startAt: number;
  readonly settings: Partial<ClusterSettings>;
  readonly mode?: Mode;
  readonly optIn?: OptIn;
  /** Puts itself between sync and the cluster: faults, counts. */
  readonly api?: (api: ClusterApi, timeoutMs?: () => number) => ClusterApi;
  readonly log?: Log;
  /** In [0, 1); the middle of every jitter if left out. */
  readonly random?: () => number;
  /** Cached pods of the sync worker. A test may switch between several workers. */
  readonly pods?: Pods;
  /** Sees every observation, with its dimensions; `HubWorld.metrics` has the sums. */
  readonly metrics?: Metrics;
  readonly limits?: Limits;
  /** Sweep's flush after each cluster. */
  readonly flush?: () => void;
  /** Sweep's metrics of clusters, all by default. */
  readonly clusterMetrics?: ClusterMetrics;
  /**
   * Changes go through the relay's own index and outbox, which drop and gather them. Otherwise each is sent at
   * once, by itself.
   */
  readonly gathers?: boolean;
  /**
   * RunText of each request that sends messages, ten at the most, and of each batch that a function takes off a
   * queue, for counting.
   */
  readonly onSend?: () => void;
  readonly onBatch?: (stage: 'ingest' | 'sync', bodies: readonly string[]) => void;
}

export class HubWorld {
  readonly store: Store;
  /** Content of Endpoints and slices in the relay's messages. */
  outputs: Outputs = 'metadata';
  readonly table = memoryTable();
  readonly queues;
  now: number;
  readonly metrics = new Map<string, number>();
  #deps;
  readonly #id: string;
  readonly #sweepEveryMs: number;
  #nextSweep: number;
  #header: EventsHeader;
  #uids = 0;
  #onBatch: NonNullable<HubWorldOptions['onBatch']>;
  readonly #outbox: Outbox | undefined;
  readonly #sentIndex: SentIndex | undefined;
  readonly #readUpTo = new Map<Kind, string>();
  readonly #timers: { readonly atMs: number; readonly run: () => void }[] = [];

  private constructor(options: HubWorldOptions) {
    this.now = options.startAt;
    this.#onBatch = options.onBatch ?? (() => {});
    this.#id = options.id ?? cluster;
    this.#sweepEveryMs = options.sweepEveryMs ?? 60_000;
    this.#nextSweep = this.now + this.#sweepEveryMs;
    this.store = new Store({
      now: () => this.now,
      uid: () => `uid-${++this.#uids}`,
      suffix: () => (++this.#uids).toString(36).padStart(5, 'x'),
    });
    this.store.load(options.given);
    this.queues = memoryClusterQueues(() => this.now, this.#id);
    for (const queue of [this.queues.events, this.queues.syncs]) countSends(queue, options.onSend);
    const uid = this.store.get('Namespace', '', 'kube-system').metadata.uid ?? '';
    this.#header = {
      v: messageVersion,
      cluster: this.#id,
      session: 's1',
      uid,
      firstListVersion: String(this.store.resourceVersion),
    };
    this.#outbox = options.gathers ? this.#newOutbox() : undefined;
    this.#sentIndex = this.#outbox && this.#newSentIndex(this.#outbox);
    const log = options.log ?? silent;
    const metrics: Metrics = {
      put: (name, value, dimensions) => {
        this.metrics.set(name, (this.metrics.get(name) ?? 0) + value);
        options.metrics?.put(name, value, dimensions);
      },
    };
    let leases = 0;
    this.#deps = {
      table: this.table,
      queues: () => this.queues,
      cluster: async ({ writer }: ClusterRecord, timeoutMs?: () => number) => {
        const api = memoryClusterApi(this.store, { fieldManager: fieldManagerOf(writer) });
        return options.api?.(api, timeoutMs) ?? api;
      },
      reaches: () => true,
      metrics,
      log,
      limits: options.limits ?? defaultLimits,
      now: () => this.now,
      random: options.random ?? (() => 0.5),
      newLeaseId: () => `lease-${++leases}`,
      newId: () => `id-${++leases}`,
      flush: options.flush ?? (() => {}),
      clusterMetrics: options.clusterMetrics ?? 'all',
      events: eventRecorder({ now: () => this.now, log }),
      leaseEndWakeUps: new LeaseEndWakeUps(),
      pods: options.pods ?? new NamespacePods(),
      wakePace: new WakePace(),
      nodes: new Map(),
      caches: freshCaches(),
    };
  }

  /** Starts a hub with a new cluster, whose relay has sent its first lists. */
  static async start(options: HubWorldOptions): Promise<HubWorld> {
    const world = new HubWorld(options);
    if (options.mode === 'shadow' && options.optIn) world.outputs = 'full';
    await registerCluster(
      world.table,
      {
        id: world.#id,
        mode: options.mode ?? 'active',
        ...(options.optIn && { optIn: options.optIn }),
        settings: options.settings,
      },
      options.startAt,
    );
    for (const kind of kinds) {
      await world.#sendList(kind);
      world.store.watch(
        kind,
        ({ type, object, previous }) => void world.#sendChange(kind, type === 'DELETED', object, previous),
      );
    }
    return world;
  }

  /** Continues another hub with its table, and its cluster as in `given`. The relay continues to send. */
  static resume(
    options: HubWorldOptions,
    former: Pick<EventsHeader, 'session' | 'firstListVersion'> & {
      items: readonly Item[];
      resourceVersion: number;
    },
  ): HubWorld {
    const world = new HubWorld(options);
    const { items, resourceVersion, session, firstListVersion } = former;
    if (options.mode === 'shadow' && options.optIn) world.outputs = 'full';
    world.store.restore(options.given, resourceVersion);
    world.table.restore(items);
    // The former one has given away the numbers before.
    world.#uids = 1_000_000;
    world.#header = {
      ...world.#header,
      session,
      firstListVersion,
      uid: world.store.get('Namespace', '', 'kube-system').metadata.uid ?? '',
    };
    for (const kind of kinds)
      world.store.watch(
        kind,
        ({ type, object, previous }) => void world.#sendChange(kind, type === 'DELETED', object, previous),
      );
    return world;
  }

  /** The relay is started again: a session of its own, which begins with lists. */
  async restartRelay(session: string): Promise<void> {
    this.#header = { ...this.#header, session, firstListVersion: String(this.store.resourceVersion) };
    for (const kind of kinds) await this.#sendList(kind);
  }

  /** Sends the relay's inventory of every kind. */
  async sendInventory(listId: string, of: readonly Kind[] = kinds): Promise<void> {
    for (const kind of of) await this.#sendList(kind, listId);
  }

  /** `kubernetesVersion`: the cluster's version. `endpointDelays`: what the relay has measured. */
  async sendHeartbeat(kubernetesVersion?: string, endpointDelays?: EndpointDelayReport): Promise<void> {
    const readUpTo = Object.fromEntries(kinds.map((kind) => [kind, String(this.store.resourceVersion)]));
    const version = kubernetesVersion !== undefined && { kubernetesVersion };
    await this.#send({
      ...this.#header,
      type: 'heartbeat',
      readUpTo,
      sentAtMs: this.now,
      ...version,
      ...(endpointDelays && { endpointDelays }),
    } as EventsMessage);
  }

  /**
   * Lets everything happen that is due before then: what is due at that very moment comes after what the
   * caller does next.
   */
  async runUntil(end: number): Promise<void> {
    for (;;) {
      const { events, syncs } = this.queues;
      const timer = Math.min(Number.POSITIVE_INFINITY, ...this.#timers.map(({ atMs }) => atMs));
      const next = Math.min(
        events.nextAt() ?? Number.POSITIVE_INFINITY,
        syncs.nextAt() ?? Number.POSITIVE_INFINITY,
        this.#nextSweep,
        timer,
      );
      if (next >= end) break;
      this.now = Math.max(this.now, next);
      if (timer <= this.now) {
        this.#timers
          .splice(
            this.#timers.findIndex(({ atMs }) => atMs === timer),
            1,
          )[0]
          ?.run();
        // The outbox's messages are in the queue once its promises have settled.
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      if (this.now >= this.#nextSweep) {
        this.#nextSweep = this.now + this.#sweepEveryMs;
        await sweep(this.#deps);
        continue;
      }
      await this.#deliver(events, (records) => {
        this.#onBatch(
          'ingest',
          records.map((r) => r.body),
        );
        return ingestBatch(
          { ...this.#deps, inPlace: runsInPlace(this.#deps) },
          this.#id,
          records,
          this.now + 30_000,
        );
      });
      await this.#deliver(syncs, (records) => {
        this.#onBatch(
          'sync',
          records.map((r) => r.body),
        );
        return syncBatch(this.#deps, this.#id, records, this.now + 30_000);
      });
    }
    this.now = end;
  }

  async #deliver(
    queue: HubWorld['queues']['events'],
    handle: (
      records: readonly { readonly messageId: string; readonly body: string; readonly sentAtMs: number }[],
    ) => Promise<readonly string[]>,
  ): Promise<void> {
    const records = queue.receive(10);
    if (records.length === 0) return;
    const failed = await handle(records);
    for (const r of records) if (!failed.includes(r.messageId)) queue.delete(r.receiptHandle);
    const received = records.map((r) => ({ ...r, receives: r.receiveCount }));
    await retrySoon({ queue, log: silent, random: () => 0.5 }, received, failed);
  }

  /** Page by page, as the relay does. */
  async #sendList(kind: Kind, id = this.#header.session): Promise<void> {
    const asOf = String(this.store.resourceVersion);
    const objects = this.store.list(kind) as readonly never[];
    const list = { header: this.#header, kind, asOf, listId: `${kind}-${id}` };
    let parts = 0;
    let from = '';
    for (let start = 0; start === 0 || start < objects.length; start += pageSize) {
      const page = objects.slice(start, start + pageSize).map((o: RawObject) => {
        const rv = o.metadata.resourceVersion ?? '0';
        this.#sentIndex?.onListed(kind, o as KubeObject, rv, false);
        return {
          key: relayKey(o),
          entry: isInput(kind)
            ? inputEntry(kind, o, rv)
            : outputEntry(kind, o, rv, { outputs: this.outputs }),
        };
      });
      const to = start + pageSize < objects.length ? (page.at(-1)?.key ?? '') : '';
      const { bodies } = encodeParts(list, page, { from, to, first: parts });
      await this.queues.events.send(bodies.map((body) => ({ body })));
      parts += bodies.length;
      from = to;
    }
  }

  async #sendChange(
    kind: Kind,
    deleted: boolean,
    object: RawObject,
    previous: RawObject | undefined,
  ): Promise<void> {
    const asOf = String(this.store.resourceVersion);
    if (this.#outbox && this.#sentIndex) {
      const event = { type: deleted ? 'DELETED' : 'MODIFIED', object: object as KubeObject } as const;
      const changed = this.#sentIndex.onEvent(kind, event, asOf);
      this.#readUpTo.set(kind, asOf);
      if (changed) this.#outbox.put(kind, relayKey(object), changed, isEcho(kind, event, changed));
      return;
    }
    const formerService = previous?.metadata.labels?.['kubernetes.io/service-name'];
    const moved =
      kind === 'EndpointSlice' &&
      formerService !== undefined &&
      formerService !== object.metadata.labels?.['kubernetes.io/service-name'];
    const entry = isInput(kind)
      ? deleted
        ? deletedInput(object, asOf, this.now)
        : inputEntry(kind, object, asOf, this.now)
      : outputEntry(kind, object, asOf, {
          outputs: this.outputs,
          more: { ...(deleted && { deleted: true as const }), ...(moved && { formerService }) },
        });
    await this.#send({ ...this.#header, type: 'live', kind, asOf, entries: [entry] } as EventsMessage);
  }

  #relayRuntime() {
    const after = (ms: number, run: () => void): (() => void) => {
      const timer = { atMs: this.now + ms, run };
      this.#timers.push(timer);
      return () => void (this.#timers.includes(timer) && this.#timers.splice(this.#timers.indexOf(timer), 1));
    };
    const clock = { now: () => this.now, monotonic: () => this.now, random: () => 0.5, after };
    return { clock, log: silent, meter: new Meter(), limits: defaultLimits };
  }

  #newOutbox(): Outbox {
    const deps = { queue: this.queues.events, ...this.#relayRuntime() };
    return new Outbox(deps, this.#header, (kind) => this.#readUpTo.get(kind));
  }

  #newSentIndex(outbox: Outbox): SentIndex {
    return new SentIndex({
      ...this.#relayRuntime(),
      outputs: this.outputs,
      putForAnswers: (key, entry) => outbox.putForAnswers('Pod', key, entry),
    });
  }

  async #send(message: EventsMessage): Promise<void> {
    await this.queues.events.send([{ body: encodeMessage(message) }]);
  }
}

const silent: Log = { info() {}, warn() {}, error() {}, with: () => silent };

function countSends(queue: MessageQueue, onSend: HubWorldOptions['onSend']): void {
  if (!onSend) return;
  const send = queue.send.bind(queue);
  Object.assign(queue, {
    send(messages: readonly OutgoingMessage[]) {
      for (let i = 0; i < messages.length; i += maxMessagesASend) onSend();
      return send(messages);
    },
  });
}
const maxMessagesASend = 10;
