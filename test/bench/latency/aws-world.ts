/**
 * One cluster and its hub in virtual time: the relay's own outbox, the real ingest and sync, with a table,
 * queues and an API server in memory whose calls take as long as on AWS. The result is independent of this
 * machine's speed.
 */
import type { EventsRecord } from '#functions/ingest/batch/redelivery.ts';
import { freshCaches } from '#functions/ingest/batch/warm-caches.ts';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { Outbox } from '#functions/relay/outbox/outbox.ts';
import { deletedInput, inputEntry, outputEntry, relayKey } from '#functions/relay/projection/entries.ts';
import { isEcho } from '#functions/relay/projection/own-write.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import { eventRecorder } from '#functions/sync/aftermath/kube-events.ts';
import { runsInPlace } from '#functions/sync/run-in-place.ts';
import { syncBatch } from '#functions/sync/wake-up-batch.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { fieldManagerOf } from '#shared/kube/names.ts';
import { allKinds, kinds as coreKinds, isInput, type Kind } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { type EventsHeader, messageVersion } from '#shared/queue/messages.ts';
import type { ClusterQueues, MessageQueue, OutgoingMessage } from '#shared/queue/port.ts';
import { NamespacePods } from '#shared/store/inputs/namespace-pods.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import { WakePace } from '#shared/workqueue/wake-pace.ts';
import { memoryClusterApi } from '#test/support/memory/cluster-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import { Scheduler } from '#test/worlds/simulation/world/scheduler.ts';
import { type CallName, draw } from './distributions.ts';
import { type Call, TimedCalls, type Timing, timedApi, timedQueue, timedTable } from './timed-ports.ts';

const cluster = 'c';
const heartbeatMs = 30_000;
const startAt = Date.parse('2026-01-02T00:00:00Z');
const silent: Log = { info() {}, warn() {}, error() {}, with: () => silent };

export interface AwsOptions {
  readonly given: readonly RawObject[];
  readonly seed?: number;
  /** Fixed duration of each call instead of a drawn one, which leaves the number of sequential calls. */
  readonly constantMs?: number;
  readonly apiIsFarAway?: boolean;
  /** The cluster exports to itself, which takes the same way as to another one. */
  readonly exportsToItself?: boolean;
  /** No function has a container that is warm. */
  readonly isCold?: boolean;
  readonly onCall?: (call: Call) => void;
  /** RunText of each batch of a warm container that has ended: how long it took, ms. */
  readonly onBatch?: (stage: Stage, ms: number, bodies: readonly string[]) => void;
}

export type Stage = 'ingest' | 'sync';
/** An event source mapping's share of each queue, by default (clusters.yaml `concurrency`). */
const containersOf = { ingest: 10, sync: 20 } as const;

interface Container {
  isWarm: boolean;
  isBusy: boolean;
  readonly kept: ReturnType<typeof freshMemory>;
}

const freshMemory = () => ({
  caches: freshCaches(),
  leaseEndWakeUps: new LeaseEndWakeUps(),
  pods: new NamespacePods(),
  wakePace: new WakePace(),
  nodes: new Map(),
});

export class AwsWorld {
  readonly store: Store;
  readonly scheduler = new Scheduler(startAt);
  /** Totals since the start: milliseconds of functions that AWS bills, and runs of sync. */
  readonly work = { lambdaMs: 0, runs: 0 };
  readonly #random: Random;
  readonly #options: AwsOptions;
  readonly #table = memoryTable();
  readonly #waiting: {
    readonly [stage in Stage]: {
      messageId: string;
      body: string;
      readonly sentAtMs: number;
      readonly readyAtMs: number;
    }[];
  } = {
    ingest: [],
    sync: [],
  };
  readonly #containers: { readonly [stage in Stage]: Container[] };
  #ids = 0;
  /** The first lists and the endpoints that follow take no time: they are not what is measured. */
  #isTimed = false;

  private constructor(options: AwsOptions) {
    this.#options = options;
    this.#random = new Random(options.seed ?? 1);
    this.store = new Store({
      now: () => this.now,
      uid: () => `uid-${++this.#ids}`,
      suffix: () => (++this.#ids).toString(36).padStart(5, 'x'),
    });
    this.store.load(options.given);
    const containers = (n: number): Container[] =>
      Array.from({ length: n }, () => ({ isWarm: !options.isCold, isBusy: false, kept: freshMemory() }));
    this.#containers = { ingest: containers(containersOf.ingest), sync: containers(containersOf.sync) };
  }

  static async start(options: AwsOptions): Promise<AwsWorld> {
    const world = new AwsWorld(options);
    const { exportsToItself } = options;
    const api = { url: 'https://c', auth: { type: 'secret', secretArn: 'arn' } } as const;
    await registerCluster(
      world.#table,
      { id: cluster, mode: 'active', settings: {}, ...(exportsToItself && { api }) },
      startAt,
    );
    if (exportsToItself) {
      const exports = { namespaces: 'all' } as const;
      await saveMembership(world.#table, cluster, {
        ...noMembership,
        sameness: 'all',
        imports: 'active',
        exports,
      });
    }
    const started = world.#relay();
    await world.runFor(120_000);
    await started;
    world.#isTimed = true;
    return world;
  }

  get now(): number {
    return this.scheduler.now;
  }

  runFor(ms: number): Promise<void> {
    return this.scheduler.runUntil(this.now + ms);
  }

  /** Containers have been away for long: the next batch of each stage starts one. */
  coolDown(): void {
    for (const containers of Object.values(this.#containers)) {
      for (const [i, container] of containers.entries())
        if (!container.isBusy) containers[i] = { isWarm: false, isBusy: false, kept: freshMemory() };
    }
  }

  #draw(name: CallName): number {
    if (!this.#isTimed) return 0;
    const { constantMs } = this.#options;
    return constantMs === undefined ? draw(name, this.#random.next()) : constantMs;
  }

  #calls(stage: string): TimedCalls {
    const timing: Timing = {
      scheduler: this.scheduler,
      draw: (name) => this.#draw(name),
      units: () => this.#table.units.read + this.#table.units.write,
      onCall: (call) => {
        if (this.#isTimed) this.#options.onCall?.(call);
      },
    };
    return new TimedCalls(timing, stage);
  }

  async #relay(): Promise<void> {
    const uid = this.store.get('Namespace', '', 'kube-system').metadata.uid ?? '';
    const header: EventsHeader = {
      v: messageVersion,
      cluster,
      session: 's1',
      uid,
      firstListVersion: String(this.store.resourceVersion),
    };
    const clock = {
      now: () => this.now,
      monotonic: () => this.now,
      random: () => this.#random.next(),
      after: (ms: number, callback: () => void) => {
        let isCancelled = false;
        this.scheduler.after(ms, () => {
          if (!isCancelled) callback();
        });
        return () => {
          isCancelled = true;
        };
      },
    };
    const queue = this.#queue('ingest', this.#calls('relay'));
    const kinds = this.#options.exportsToItself ? allKinds : coreKinds;
    for (const kind of kinds) await queue.send([{ body: encodeMessage({ ...this.#list(header, kind) }) }]);
    if (this.#options.exportsToItself) this.#beat(header, queue);
    const outbox = new Outbox(
      { queue, clock, log: silent, meter: new Meter(), limits: defaultLimits },
      header,
      (kind) => readUpTo.get(kind),
    );
    const readUpTo = new Map<Kind, string>();
    for (const kind of kinds) {
      let after = 0;
      this.store.watch(kind, ({ type, object }) => {
        const seenAtMs = this.now;
        const resourceVersion = String(this.store.resourceVersion);
        // A watch keeps its order.
        after = Math.max(after, seenAtMs + this.#draw('watch'));
        this.scheduler.at(after, () => {
          const isGone = type === 'DELETED';
          const entry = isInput(kind)
            ? isGone
              ? deletedInput(object, resourceVersion, seenAtMs)
              : inputEntry(kind, object, resourceVersion, seenAtMs)
            : outputEntry(kind, object, resourceVersion, { more: isGone ? { deleted: true as const } : {} });
          readUpTo.set(kind, resourceVersion);
          if (entry) outbox.put(kind, relayKey(object), entry, isEcho(kind, { type, object }, entry));
        });
      });
    }
  }

  /** Without heartbeats a source of imports counts as silent. */
  #beat(header: EventsHeader, queue: MessageQueue): void {
    const readUpTo = Object.fromEntries(allKinds.map((kind) => [kind, String(this.store.resourceVersion)]));
    void queue.send([
      { body: encodeMessage({ ...header, type: 'heartbeat', readUpTo, sentAtMs: this.now }) },
    ]);
    this.scheduler.after(heartbeatMs, () => this.#beat(header, queue));
  }

  #list(header: EventsHeader, kind: Kind): object {
    const entries = this.store.list(kind).map((o) => {
      const resourceVersion = o.metadata.resourceVersion ?? '0';
      return isInput(kind) ? inputEntry(kind, o, resourceVersion) : outputEntry(kind, o, resourceVersion);
    });
    return {
      ...header,
      type: 'list',
      kind,
      asOf: String(this.store.resourceVersion),
      listId: `${kind}-1`,
      partNumber: 0,
      isLast: true,
      from: '',
      to: '',
      entries,
    };
  }

  #queue(stage: Stage, calls: TimedCalls): MessageQueue {
    const deliver = ({ body, delaySeconds = 0 }: OutgoingMessage, sentAtMs: number): void => {
      const readyAtMs = Math.max(this.now, sentAtMs + this.#draw('queueToHandler')) + delaySeconds * 1000;
      const messageId = `m${++this.#ids}`;
      this.scheduler.at(readyAtMs, () => {
        this.#waiting[stage].push({ messageId, body, sentAtMs, readyAtMs });
        this.#invoke(stage);
      });
    };
    return timedQueue(calls, deliver, () => this.now);
  }

  /**
   * Runs a batch of the waiting messages if a container is free, like an event source mapping without a
   * window.
   */
  #invoke(stage: Stage): void {
    const waiting = this.#waiting[stage];
    const container =
      this.#containers[stage].find((c) => !c.isBusy && c.isWarm) ??
      this.#containers[stage].find((c) => !c.isBusy);
    if (!container || waiting.length === 0) return;
    const records = waiting.splice(0, 10);
    container.isBusy = true;
    const wasWarm = container.isWarm;
    const coldMs = container.isWarm ? 0 : this.#draw('coldStart') + this.#draw('handshake');
    container.isWarm = true;
    this.scheduler.after(coldMs, () => {
      const beganMs = this.now;
      void this.#run(stage, container, records).then((failed) => {
        // AWS bills the start of a container too.
        if (this.#isTimed) this.work.lambdaMs += coldMs + this.now - beganMs;
        if (wasWarm && this.#isTimed) {
          const bodies = records.map((r) => r.body);
          this.#options.onBatch?.(stage, this.now - beganMs, bodies);
        }
        waiting.push(...records.filter((r) => failed.includes(r.messageId)));
        container.isBusy = false;
        this.#invoke(stage);
      });
    });
  }

  #run(stage: Stage, { kept }: Container, records: readonly EventsRecord[]): Promise<readonly string[]> {
    const calls = this.#calls(stage);
    const nowhere: MessageQueue = { send: async () => {} };
    const queues: ClusterQueues = {
      events: this.#queue('ingest', calls),
      syncs: this.#queue('sync', calls),
      parked: nowhere,
      quarantine: nowhere,
    };
    const deps = {
      ...kept,
      table: timedTable(calls, this.#table),
      queues: () => queues,
      cluster: async ({ writer }: ClusterRecord) => {
        const api = memoryClusterApi(this.store, { fieldManager: fieldManagerOf(writer) });
        return timedApi(calls, api, this.#options.apiIsFarAway ?? false);
      },
      metrics: {
        put: (name: string) => {
          if (name === 'SyncDuration' && this.#isTimed) this.work.runs++;
        },
      },
      log: silent,
      now: () => this.now,
      limits: defaultLimits,
      random: () => this.#random.next(),
      newLeaseId: () => `lease-${++this.#ids}`,
      events: eventRecorder({ now: () => this.now, log: silent }),
    };
    const deadline = this.now + 30_000;
    return stage === 'ingest'
      ? ingestBatch({ ...deps, inPlace: runsInPlace(deps) }, cluster, records, deadline)
      : syncBatch(deps, cluster, records, deadline);
  }
}
