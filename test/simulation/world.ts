/** One seed's world: a cluster that lives, its relays, and the hub with the real ingest, sync and sweep. */
import { ingestBatch } from '#functions/ingest/batch.ts';
import type { CachedSelectors } from '#functions/ingest/selectors.ts';
import type { Clock } from '#functions/relay/clock.ts';
import { Meter } from '#functions/relay/meter.ts';
import { Relay } from '#functions/relay/relay.ts';
import { sweep } from '#functions/sweep/sweep.ts';
import { syncBatch } from '#functions/sync/batch.ts';
import { defaultLimits, type SyncDeps } from '#functions/sync/deps.ts';
import { eventRecorder } from '#functions/sync/events.ts';
import { PodCache } from '#functions/sync/pod-cache.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/cluster/errors.ts';
import type { ClusterApi } from '#shared/cluster/port.ts';
import { labelServiceName } from '#shared/kube/names.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { ClusterQueues, MessageQueue } from '#shared/queue/port.ts';
import { readMeta, registerCluster, switchMode } from '#shared/snapshot/meta.ts';
import type { Table } from '#shared/snapshot/table.ts';
import type { Fields, Log, Metrics } from '#shared/telemetry/port.ts';
import { wakeAll } from '#shared/wakeup/wake-all.ts';
import { sendWakeUps } from '#shared/wakeup/wake-ups.ts';
import { memoryClusterApi } from '#test/support/cluster-memory.ts';
import { type MemoryTable, memoryTable } from '#test/support/table-memory.ts';
import { Actor, type Fate, type Surroundings } from './actor.ts';
import { Life } from './life.ts';
import { type Monitor, monitor } from './monitor.ts';
import type { Mutant } from './mutants.ts';
import { apiPort, type Faults, queuePort, tablePort } from './ports.ts';
import { drawProfile, type Profile } from './profile.ts';
import { type Message, Queue } from './queue.ts';
import { Random } from './random.ts';
import { drainMicrotasks, Scheduler } from './scheduler.ts';
import { type Watched, watchSource } from './watch-source.ts';

export const cluster = 'c';
const startAt = Date.parse('2026-01-01T00:00:00Z');
const queueNames = ['events', 'syncs', 'parked', 'quarantine'] as const;

export interface WorldOptions {
  readonly seed: number;
  readonly mutant?: Mutant | undefined;
  readonly trace?: ((line: string) => void) | undefined;
  readonly drain?: () => Promise<void>;
}

interface Container {
  busy: boolean;
  selectors: Map<string, CachedSelectors>;
  knownNamespaces: Set<string>;
  readonly pods: PodCache;
  nodes: SyncDeps['nodes'];
}

interface RelayProcess {
  readonly actor: Actor;
  readonly source: Watched;
  readonly relay: Relay;
  readonly ended: AbortController;
}

export class World {
  readonly seed: number;
  readonly random: Random;
  readonly profile: Profile;
  readonly scheduler: Scheduler;
  readonly store: Store;
  readonly table: MemoryTable = memoryTable();
  readonly queues: { readonly [Q in (typeof queueNames)[number]]: Queue };
  readonly failures: string[] = [];
  readonly faultsEnd: number;
  readonly monitor: Monitor;
  readonly metrics = new Map<string, number>();
  /** Until when somebody was told to wait (back-off, circuit, visibility). */
  prescribedUntil = 0;
  /** A relay was killed that another one does not make good for by a list. */
  abandoned = false;
  redriven = 0;
  relays: RelayProcess[] = [];
  readonly #mutant: Mutant | undefined;
  readonly #surroundings: Surroundings;
  readonly #faults: Faults;
  readonly #api: ClusterApi;
  readonly #containers = new Map<'ingest' | 'sync', Container[]>();
  #ids = 0;
  #outageFrom = Number.POSITIVE_INFINITY;
  #outage: ClusterApiError | undefined;
  #refusedService: string | undefined;
  #over = false;

  constructor({ seed, mutant, trace, drain = drainMicrotasks }: WorldOptions) {
    this.seed = seed;
    this.#mutant = mutant;
    this.random = new Random(seed);
    this.profile = { ...drawProfile(this.random), ...mutant?.profile };
    this.scheduler = new Scheduler(startAt, drain);
    this.faultsEnd = startAt + this.profile.faultsUntilMs;
    const { scheduler, random, profile } = this;
    const slow = (): number => (this.#over ? 0 : profile.slow);
    const said =
      trace && ((who: string, what: string) => trace(`${((scheduler.now - startAt) / 1000).toFixed(3).padStart(9)} ${who.padEnd(12)} ${what}`));
    this.#surroundings = { scheduler, random, slow, trace: said };
    let uids = 0;
    this.store = new Store({ now: () => scheduler.now, uid: () => `uid-${++uids}`, suffix: () => (++uids).toString(36).padStart(5, 'x') });
    this.#api = memoryClusterApi(this.store, { fieldManager: 'fleet-endpoints' });
    const world = this;
    this.#faults = {
      profile,
      random,
      isOver: () => this.#over,
      outage: () => (scheduler.now >= this.#outageFrom && scheduler.now < this.#outageFrom + profile.outageMs ? this.#outage : undefined),
      get refusedService() {
        return world.#refusedService;
      },
    };
    const queue = (name: (typeof queueNames)[number], visibilityMs: number, mostReceives: number): Queue =>
      new Queue(scheduler, random, {
        name,
        visibilityMs,
        mostReceives,
        duplicates: () => (this.#over ? 0 : profile.duplicates),
        delayMs: () => (this.#over ? 30 : profile.delayMs),
      });
    this.queues = {
      events: queue('events', 60_000, 5),
      syncs: queue('syncs', 180_000, profile.syncReceives),
      parked: queue('parked', 30_000, 1e9),
      quarantine: queue('quarantine', 30_000, 1e9),
    };
    this.monitor = monitor(cluster, this.store, this.table, profile, (what) => this.fail(what));
  }

  fail(what: string): void {
    this.failures.push(`at ${((this.scheduler.now - startAt) / 1000).toFixed(3)} s: ${what}`);
    this.tell('FAILURE', what);
  }

  tell(who: string, what: string): void {
    this.#surroundings.trace?.(who, what);
  }

  /** Everything until the last fault. */
  async liveThroughFaults(): Promise<void> {
    const { scheduler, random, profile } = this;
    this.tell('world', `seed ${this.seed}: ${JSON.stringify(profile)}`);
    await registerCluster(
      this.table,
      {
        id: cluster,
        mode: 'active',
        settings: { batchPeriodSeconds: profile.batchPeriodSeconds, maxEndpointsPerSlice: profile.maxEndpointsPerSlice },
      },
      startAt,
    );
    const life = new Life(this.store, random, scheduler, profile, (what) => this.tell('cluster', what));
    life.begin();
    for (const role of ['ingest', 'sync'] as const) {
      this.#containers.set(role, [freshContainer(), freshContainer(), freshContainer()]);
      this.queues[role === 'ingest' ? 'events' : 'syncs'].onVisible = () => this.#poll(role);
    }
    this.startRelay();
    if (profile.twoRelays) scheduler.after(random.between(0, profile.faultsUntilMs / 2), () => this.startRelay());
    for (let i = 0; i < profile.relayKills; i++) scheduler.after(random.between(0, profile.faultsUntilMs - 1), () => this.#replaceRelay());
    this.#everySoOften(60_000, () => this.#sweep());
    this.#everySoOften(20_000, () => this.#redrive());
    for (let i = 0; i < profile.modeSwitches; i++) this.#planPause();
    if (profile.outageMs > 0) {
      this.#outageFrom = startAt + random.between(0, Math.max(0, profile.faultsUntilMs - profile.outageMs));
      this.#outage = new ClusterApiError(
        'the cluster is not there',
        random.pick([{ status: 0 }, { status: 500 }, { status: 401 }, { status: 429, retryAfterSeconds: 7 }]),
      );
    }
    if (profile.webhook) this.#refusedService = `a/s${random.between(0, 1)}`;
    life.live();
    this.#mutant?.begin?.(this);
    await scheduler.runUntil(this.faultsEnd);
    this.#over = true;
    this.tell('world', 'the last fault is over');
    if (this.relays.length > 1) this.#kill(random.pick(this.relays));
    for (const q of [this.queues.events, this.queues.syncs])
      for (const m of q.messages.values()) this.prescribedUntil = Math.max(this.prescribedUntil, m.visibleAt);
  }

  startRelay(): void {
    const actor = this.#actor('relay');
    const source = watchSource(actor, this.store, this.#faults);
    const clock: Clock = {
      now: () => this.scheduler.now,
      random: () => this.random.next(),
      after: (ms, callback) => {
        let cancelled = false;
        actor.later(ms, () => {
          if (!cancelled) callback();
        });
        return () => {
          cancelled = true;
        };
      },
    };
    const relay = new Relay(
      { source, queue: this.#queue(actor, 'events'), clock, log: this.#log(actor), meter: new Meter(), newId: () => this.#newId(actor) },
      { cluster, outputs: 'metadata', pageSize: this.profile.pageSize, resyncMs: this.profile.relistMs },
    );
    const ended = new AbortController();
    this.relays.push({ actor, source, relay, ended });
    actor.trace('relay starts');
    const over = (e?: unknown): void => {
      if (!actor.dead) this.fail(`the relay ended: ${e instanceof Error ? e.stack : String(e)}`);
    };
    relay.run(ended.signal).then(over, over);
  }

  /** Lists anew, as the relay does every half hour. */
  relist(): void {
    // Something always happens in a cluster between two lists.
    this.store.apply(this.store.get('Namespace', '', 'default'));
    for (const relay of [...this.relays]) this.#kill(relay);
    this.startRelay();
  }

  /** Lets go of what would stay in memory. */
  close(): void {
    for (const relay of [...this.relays]) this.#kill(relay);
  }

  #replaceRelay(): void {
    if (this.#over || this.relays.length === 0) return;
    this.#kill(this.random.pick(this.relays));
    // For a while nobody may be there.
    if (this.relays.length === 0)
      this.scheduler.after(Math.min(this.random.between(1, 15_000), this.faultsEnd - this.scheduler.now - 1), () => this.startRelay());
    else this.abandoned = true;
  }

  #kill(relay: RelayProcess): void {
    relay.actor.die('KILLED');
    relay.source.close();
    // Nothing of it happens any more; Node keeps what listens to a signal until the signal is aborted.
    relay.ended.abort();
    this.relays = this.relays.filter((r) => r !== relay);
    if (this.relays.length > 0) this.abandoned = true;
  }

  #planPause(): void {
    const from = this.random.between(0, this.profile.faultsUntilMs - 2000);
    this.scheduler.after(from, () => this.#switchTo('paused'));
    this.scheduler.after(Math.min(this.profile.faultsUntilMs - 1, from + this.random.between(500, 15_000)), () => this.#switchTo('active'));
  }

  #switchTo(mode: 'paused' | 'active'): void {
    const actor = this.#actor('operator', { lucky: true });
    const table = this.#table(actor);
    const run = async (): Promise<void> => {
      actor.trace(`switches to ${mode}`);
      await switchMode(table, cluster, mode, this.scheduler.now);
      const meta = await readMeta(table, cluster);
      if (meta?.wakeAll)
        await wakeAll({ table, queues: () => this.#clusterQueues(actor), now: () => this.scheduler.now, log: this.#log(actor) }, meta);
    };
    void run();
  }

  #sweep(): void {
    const actor = this.#actor('sweep', { fate: this.#fate(30) });
    const deps = {
      table: this.#table(actor),
      queues: () => this.#clusterQueues(actor),
      cluster: async () => this.#clusterApi(actor),
      metrics: this.#metrics,
      log: this.#log(actor),
      now: () => this.scheduler.now,
      newId: () => this.#newId(actor),
    };
    sweep(deps).catch((e: unknown) => actor.trace(`sweep failed: ${String(e)}`));
  }

  /** What a person does who looks after the dead-letter and parked queues. */
  #redrive(): void {
    const { syncs, parked, events } = this.queues;
    const actor = this.#actor('operator', { lucky: true });
    const wake = async (message: Message): Promise<void> => {
      this.redriven++;
      const { ns, service, gen, part } = decodeMessage(message.body) as { ns: string; service: string; gen: number; part?: string };
      actor.trace(`re-drives ${message.body}`);
      if (this.#mutant?.redriveCopies && part) return syncs.add({ body: JSON.stringify({ v: 1, cluster, ns, service, gen, seq: { [part]: 0 } }) });
      const wakeUp = { namespace: ns, service, delaySeconds: 0, live: true, seen: undefined };
      await sendWakeUps(this.#table(actor), this.#queue(actor, 'syncs'), cluster, [wakeUp], this.scheduler.now);
    };
    for (const message of syncs.dead.splice(0)) void wake(message);
    // Events say what is so as of a version: they can come at any time.
    for (const message of events.dead.splice(0)) events.add({ body: message.body });
    if (!this.#over) return;
    for (const message of [...parked.messages.values()]) {
      // Many events in a short time use up the retries of a pod whose node is missing, as they do upstream.
      const due = this.profile.webhook || this.profile.apiFailures > 0 || /Node \S+ Not Found/.test(message.body);
      if (!due) this.fail(`parked without a cause: ${message.body}`);
      parked.delete(message.id);
      void wake(message);
    }
  }

  #everySoOften(ms: number, run: () => void): void {
    const again = (): void => {
      run();
      this.scheduler.after(ms, again);
    };
    this.scheduler.after(this.random.between(1, ms), again);
  }

  // What follows is Lambda: an event source mapping and its containers.

  isIdle(): boolean {
    if (this.queues.parked.messages.size > 0) return false;
    const isHeartbeat = (m: Message): boolean => m.body.includes('"type":"heartbeat"');
    return (
      [...this.queues.events.messages.values()].every(isHeartbeat) &&
      this.queues.syncs.isEmpty &&
      [...this.queues.events.dead, ...this.queues.syncs.dead].length === 0 &&
      this.relays.every((r) => r.relay.isReady && (r.relay.gauges()[0]?.values[0]?.[1] ?? 0) === 0)
    );
  }

  #poll(role: 'ingest' | 'sync'): void {
    this.scheduler.after(this.random.between(1, 60), () => this.#invoke(role));
  }

  #invoke(role: 'ingest' | 'sync'): void {
    const queue = this.queues[role === 'ingest' ? 'events' : 'syncs'];
    const containers = this.#containers.get(role) ?? [];
    const i = containers.findIndex((c) => !c.busy);
    const container = containers[i];
    if (!container) return;
    const records = queue.take(this.random.between(1, 10));
    if (records.length === 0) return;
    container.busy = true;
    const timeoutMs = role === 'ingest' ? 10_000 : 30_000;
    const end = (fresh: boolean): void => {
      containers[i] = fresh ? freshContainer() : Object.assign(container, { busy: false });
      this.#poll(role);
    };
    const lucky = this.#over || (role === 'ingest' && records.some((r) => r.receives >= 4));
    const actor = this.#actor(role, { lucky, fate: lucky ? undefined : this.#fate(role === 'ingest' ? 60 : 25), onDeath: () => end(true) });
    actor.trace(`receives ${records.map((r) => `${r.id} ${r.body.slice(0, 400)}`).join('\n                       ')}`);
    const deadline = this.scheduler.now + timeoutMs;
    const run = role === 'ingest' ? this.#ingest(actor, container, records) : this.#sync(actor, container, records, deadline);
    let running = true;
    run.then(
      (failed) => {
        running = false;
        const kept = new Set(this.#mutant?.deletesFailed ? [] : failed);
        actor.trace(`done${kept.size > 0 ? `, to come back: ${[...kept].join()}` : ''}`);
        for (const r of records) if (!kept.has(r.id)) queue.delete(r.id);
        if (!actor.dead) end(false);
      },
      (e: unknown) => {
        running = false;
        actor.die(`threw ${e instanceof Error ? e.stack : String(e)}`);
      },
    );
    this.scheduler.at(deadline, () => {
      if (running && !actor.paused) actor.die('timed out');
    });
  }

  #ingest(actor: Actor, { selectors, knownNamespaces }: Container, records: readonly Message[]): Promise<readonly string[]> {
    const deps = {
      table: this.#table(actor),
      queues: () => this.#clusterQueues(actor),
      metrics: this.#metrics,
      log: this.#log(actor),
      now: () => this.scheduler.now,
      selectors,
      knownNamespaces,
    };
    return ingestBatch(deps, cluster, asRecords(records));
  }

  #sync(actor: Actor, { nodes, pods }: Container, records: readonly Message[], deadline: number): Promise<readonly string[]> {
    const log = this.#log(actor);
    const deps: SyncDeps = {
      table: this.#table(actor),
      queues: () => this.#clusterQueues(actor),
      cluster: async () => this.#clusterApi(actor),
      metrics: this.#metrics,
      log,
      now: () => this.scheduler.now,
      random: () => this.random.next(),
      newLeaseId: () => this.#newId(actor),
      events: eventRecorder({ now: () => this.scheduler.now, log }),
      nodes,
      pods: this.monitor.witnessPods(actor, pods),
    };
    return syncBatch(deps, defaultLimits, cluster, asRecords(records), deadline);
  }

  #actor(role: string, options: ConstructorParameters<typeof Actor>[2] = {}): Actor {
    return new Actor(`${role}-${++this.#ids}`, this.#surroundings, options);
  }

  #newId = (actor: Actor): string => `${actor.name}/${++this.#ids}`;

  #fate(calls: number): Fate | undefined {
    if (this.#over) return undefined;
    const { random, profile } = this;
    const chance = random.next();
    const what = chance < profile.crashes ? 'crash' : chance < profile.crashes + profile.pauses ? 'pause' : undefined;
    if (!what) return undefined;
    const pauseMs = Math.max(1, Math.min(random.between(40_000, 75_000), this.faultsEnd - this.scheduler.now));
    const on = random.pick(profile.fateAt);
    const most = { any: calls, read: calls, put: 6, update: 6, delete: 2, send: 2, api: 4 }[on];
    return { on, atCall: random.between(1, most), what, pauseMs, reaches: random.chance(0.5) };
  }

  #table(actor: Actor): Table {
    const port = tablePort(actor, this.monitor.witness(actor, this.table), this.#faults);
    return this.#mutant?.table?.(port, actor, this) ?? port;
  }

  #queue(actor: Actor, name: (typeof queueNames)[number]): MessageQueue {
    const port = queuePort(actor, this.queues[name], this.#faults);
    const mutated = this.#mutant?.queue?.(port, name, actor, this) ?? port;
    if (name !== 'syncs' || !actor.name.startsWith('sync')) return mutated;
    return {
      send: (messages) => {
        for (const { delaySeconds = 0 } of messages) {
          if (delaySeconds > 2) this.prescribedUntil = Math.max(this.prescribedUntil, this.scheduler.now + delaySeconds * 1000);
        }
        return mutated.send(messages);
      },
    };
  }

  #clusterQueues(actor: Actor): ClusterQueues {
    const [events, syncs, parked, quarantine] = queueNames.map((name) => this.#queue(actor, name)) as [
      MessageQueue,
      MessageQueue,
      MessageQueue,
      MessageQueue,
    ];
    return { events, syncs, parked, quarantine };
  }

  #clusterApi(actor: Actor): ClusterApi {
    const serviceOf = (kind: string, ns: string, name: string): string =>
      kind === 'Endpoints' ? name : (this.store.find(kind as never, ns, name)?.metadata.labels?.[labelServiceName] ?? '');
    const port = apiPort(actor, this.#api, this.#faults, this.monitor.writing, serviceOf);
    return this.#mutant?.api?.(port, actor, this) ?? port;
  }

  readonly #metrics: Metrics = { put: (name, value) => void this.metrics.set(name, (this.metrics.get(name) ?? 0) + value) };

  #log(actor: Actor): Log {
    const at =
      (level: string) =>
      (message: string, fields: Fields = {}): void => {
        actor.trace(`${level}: ${message} ${this.#surroundings.trace ? JSON.stringify(fields) : ''}`);
        if (message === 'run failed unexpectedly' && !/Provisioned|lost|did not answer/.test(String(fields['error'])))
          this.fail(`${message}: ${String(fields['error'])}`);
      };
    const log: Log = { info: at('info'), warn: at('warn'), error: at('error'), with: () => log };
    return log;
  }
}

const freshContainer = (): Container => ({ busy: false, selectors: new Map(), knownNamespaces: new Set(), nodes: new Map(), pods: new PodCache() });

const asRecords = (messages: readonly Message[]) => messages.map(({ id, body }) => ({ messageId: id, body }));
