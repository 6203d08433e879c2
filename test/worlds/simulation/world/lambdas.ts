/**
 * Lambda: an event source mapping for each of the two queues, and containers that live from batch to batch.
 */
import { freshCaches, type WarmCaches } from '#functions/ingest/batch/warm-caches.ts';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { eventRecorder } from '#functions/sync/aftermath/kube-events.ts';
import { runsInPlace } from '#functions/sync/run-in-place.ts';
import type { SyncDeps } from '#functions/sync/state/deps.ts';
import { syncBatch } from '#functions/sync/wake-up-batch.ts';
import { retryDelaySeconds } from '#shared/queue/visibility.ts';
import { NamespacePods } from '#shared/store/inputs/namespace-pods.ts';
import { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import { WakePace } from '#shared/workqueue/wake-pace.ts';
import { ordinaryLimits } from '#test/worlds/simulation/faults/draw-limits.ts';
import { planLongOutage } from '#test/worlds/simulation/faults/long-outage.ts';
import type { Actor } from './actor.ts';
import type { Processes } from './processes.ts';
import type { Message, Queue } from './queue.ts';
import type { WorldState } from './world-state.ts';

interface Container {
  busy: boolean;
  readonly caches: WarmCaches;
  nodes: SyncDeps['nodes'];
  readonly leaseEndWakeUps: LeaseEndWakeUps;
  readonly pods: NamespacePods;
  readonly wakePace: WakePace;
  readonly now: () => number;
}

export class Lambdas {
  readonly #world: WorldState;
  readonly #processes: Processes;
  readonly #containers = new Map<'ingest' | 'sync', Container[]>();
  /** Containers of sync that there were. */
  syncContainers = 0;
  readonly #isIngestDown: () => boolean;
  /** Runs that failed a message, by its id. */
  readonly #failed = new Map<string, readonly Actor[]>();

  constructor(processes: Processes) {
    this.#processes = processes;
    this.#world = processes.world;
    this.#isIngestDown = planLongOutage(this.#world, () => this.#poll('ingest'));
    for (const role of ['ingest', 'sync'] as const) {
      this.#containers.set(
        role,
        Array.from({ length: this.#world.profile.containers }, () => this.#freshContainer(role)),
      );
      this.#world.queues[role === 'ingest' ? 'events' : 'syncs'].onVisible = () => this.#poll(role);
    }
  }

  #poll(role: 'ingest' | 'sync'): void {
    this.#world.scheduler.after(this.#world.random.between(1, 60), () => this.#invoke(role));
  }

  #invoke(role: 'ingest' | 'sync'): void {
    if (role === 'ingest' && this.#isIngestDown()) return;
    const { runs } = this.#world.profile.limits;
    const queue = this.#world.queues[role === 'ingest' ? 'events' : 'syncs'];
    const containers = this.#containers.get(role) ?? [];
    const i = containers.findIndex((c) => !c.busy);
    const container = containers[i];
    if (!container) return;
    const records = queue.take(this.#world.random.between(1, runs.batchSize));
    if (records.length === 0) return;
    container.busy = true;
    const timeoutMs = role === 'ingest' ? runs.ingestMs : runs.workerMs;
    const end = (fresh: boolean): void => {
      containers[i] = fresh ? this.#freshContainer(role) : Object.assign(container, { busy: false });
      this.#poll(role);
    };
    const lucky =
      this.#world.isOver || (role === 'ingest' && records.some((r) => r.receives >= runs.maxReceives - 1));
    const actor = this.#processes.actor(role, {
      lucky,
      fate: lucky ? undefined : this.#processes.fate(role === 'ingest' ? 60 : 25),
      onDeath: () => end(true),
    });
    actor.container = container;
    if (actor.isTraced)
      actor.trace(
        `receives ${records.map((r) => `${r.id} ${r.body.slice(0, 400)}`).join('\n                       ')}`,
      );
    const deadline = this.#world.scheduler.now + timeoutMs;
    const deadlineMs = container.now() + timeoutMs;
    const run =
      role === 'ingest'
        ? this.#ingest(actor, container, records, deadlineMs)
        : this.#sync(actor, container, records, deadlineMs);
    let running = true;
    run.then(
      (failed) => {
        running = false;
        actor.hasReturned = true;
        this.#settle(actor, queue, records, failed);
        if (!actor.dead) end(false);
      },
      (e: unknown) => {
        running = false;
        actor.die(`threw ${e instanceof Error ? e.stack : String(e)}`);
      },
    );
    this.#world.scheduler.at(deadline, () => {
      if (!running || actor.paused) return;
      if (!actor.dead && this.#hasTime())
        this.#world.fail(`${actor.name} is stopped by its time limit, and no call took that long`);
      actor.die('timed out');
    });
  }

  /** The queue learns which messages of the batch are handled, and which come back. */
  #settle(actor: Actor, queue: Queue, records: readonly Message[], failed: readonly string[]): void {
    const { random, profile } = this.#world;
    const kept = new Set(this.#processes.mutant?.deletesFailed ? [] : failed);
    if (kept.size === records.length) actor.hasFailed = true;
    actor.trace(`done${kept.size > 0 ? `, to come back: ${[...kept].join()}` : ''}`);
    for (const r of records) {
      if (!kept.has(r.id)) {
        queue.delete(r.id);
        if (actor.paused) for (const former of this.#failed.get(r.id) ?? []) former.isRelieved = true;
        continue;
      }
      this.#failed.set(r.id, [...(this.#failed.get(r.id) ?? []), actor]);
      // The call may fail, and then the visibility timeout ends: not where only the culprit's calls fail.
      if (!actor.dead && (random.chance(0.8) || profile.culprit !== 'none'))
        queue.comeBack(r.id, retryDelaySeconds(r.receives, random.next(), profile.limits.runs));
    }
  }

  /** Returns true if no call of a process takes long, except for those that get no answer. */
  #hasTime(): boolean {
    const { slow, stalls, limits } = this.#world.profile;
    return slow + stalls === 0 && limits.runs.ingestMs >= ordinaryLimits.runs.ingestMs;
  }

  #freshContainer(role: 'ingest' | 'sync'): Container {
    if (role === 'sync') this.syncContainers++;
    const { ingest, sync } = this.#world.profile.limits;
    return {
      busy: false,
      leaseEndWakeUps: new LeaseEndWakeUps(sync),
      wakePace: new WakePace(sync),
      caches: freshCaches(ingest),
      nodes: new Map(),
      pods: new NamespacePods(),
      now: this.#processes.clock(),
    };
  }

  #ingest(
    actor: Actor,
    container: Container,
    records: readonly Message[],
    deadline: number,
  ): Promise<readonly string[]> {
    const deps = this.#deps(actor, container);
    const inPlace = runsInPlace(deps);
    return ingestBatch(
      { ...deps, caches: container.caches, inPlace: this.#processes.mutant?.inPlace?.(inPlace) ?? inPlace },
      this.#world.cluster,
      this.#asRecords(records),
      deadline,
    );
  }

  #sync(
    actor: Actor,
    container: Container,
    records: readonly Message[],
    deadline: number,
  ): Promise<readonly string[]> {
    return syncBatch(this.#deps(actor, container), this.#world.cluster, this.#asRecords(records), deadline);
  }

  #deps(actor: Actor, { leaseEndWakeUps, wakePace, nodes, pods, now }: Container): SyncDeps {
    const log = this.#processes.log(actor);
    const { limits } = this.#world.profile;
    return {
      table: this.#processes.table(actor),
      queues: (id: string) => this.#processes.of(id).clusterQueues(actor),
      reaches: () => true,
      cluster: async (meta, timeoutMs) => this.#processes.of(meta.id).clusterApi(actor, meta, timeoutMs),
      metrics: this.#processes.metricsPort,
      log,
      now,
      random: () => this.#world.random.next(),
      newLeaseId: () => this.#processes.newId(actor),
      events: eventRecorder({ now, log }),
      nodes: this.#processes.mutant?.nodes?.(nodes) ?? nodes,
      leaseEndWakeUps,
      wakePace,
      pods: this.#world.monitor.witnessPods(actor, this.#processes.mutant?.pods?.(pods) ?? pods),
      limits,
    };
  }

  #asRecords(messages: readonly Message[]) {
    const sentAt = this.#processes.mutant?.sentAt ?? (({ sentAtMs }) => sentAtMs);
    return messages.map((message) => ({
      messageId: message.id,
      body: message.body,
      sentAtMs: sentAt(message, this.#world.scheduler.now),
    }));
  }
}
