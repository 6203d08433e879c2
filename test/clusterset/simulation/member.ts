/** One cluster of a set: its API server and queues, the processes that serve it, and what happens to it. */
import { storeKinds } from '#infra/local/apiserver/api-kinds.ts';
import { collectGarbage } from '#infra/local/apiserver/gc.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { labelMcsService } from '#shared/kube/names.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';
import type { Mutant } from '#test/worlds/simulation/mutants/mutant.ts';
import { WriterLimits } from '#test/worlds/simulation/opt-in/writer-limits.ts';
import type { Monitor } from '#test/worlds/simulation/promises/monitor.ts';
import type { Random } from '#test/worlds/simulation/random.ts';
import { Lambdas } from '#test/worlds/simulation/world/lambdas.ts';
import { Life } from '#test/worlds/simulation/world/life.ts';
import { Operations } from '#test/worlds/simulation/world/operations.ts';
import type { Faults } from '#test/worlds/simulation/world/ports.ts';
import { Processes } from '#test/worlds/simulation/world/processes.ts';
import { Queue } from '#test/worlds/simulation/world/queue.ts';
import { Relays } from '#test/worlds/simulation/world/relays.ts';
import type { Scheduler } from '#test/worlds/simulation/world/scheduler.ts';
import type { SimulatedTable } from '#test/worlds/simulation/world/simulated-table.ts';
import type { QueueName } from '#test/worlds/simulation/world/world-state.ts';
import { heartbeatsLateMs, type MemberProfile } from './draw.ts';
import { HostileRelay, hostileId } from './hostile-relay.ts';
import { withNewerEntries } from './newer-entries.ts';
import { reachable } from './reachable-table.ts';
import { isMcsKind, type Labelled, namespacesOf, type SetMember, type SetState } from './set-state.ts';

/** Within this time a relay notices a restore, and the queue has the first message of its next session. */
const saidAfterMs = 5_000;

export interface MemberParts {
  readonly mutant: Mutant | undefined;
  readonly said: ((who: string, what: string) => void) | undefined;
  readonly others: (id: string) => Processes;
}

export class Member implements SetMember {
  readonly cluster: string;
  readonly takesPart: MemberProfile;
  readonly random: Random;
  readonly profile: Profile;
  readonly scheduler: Scheduler;
  readonly store: Store;
  readonly table: SimulatedTable;
  readonly queues: { readonly [Q in QueueName]: Queue };
  readonly faultsEnd: number;
  readonly writerLimits: WriterLimits;
  readonly metrics: Map<string, number>;
  /** First two bytes of its pods' addresses. */
  readonly network: string;
  readonly processes: Processes;
  readonly relays: Relays;
  readonly operations: Operations;
  monitor: Monitor = undefined as unknown as Monitor;
  prescribedUntil = 0;
  abandoned = false;
  redriven = 0;
  awaySince = Number.POSITIVE_INFINITY;
  /** The kinds of the Multi-Cluster Services API are installed. */
  servesMcs = true;
  /** The object of one import whose writes its API server refuses. */
  refused: { readonly kind: string; readonly name: string; readonly error: ClusterApiError } | undefined;
  burntAt = Number.POSITIVE_INFINITY;
  /** It was taken out of the fleet. */
  hasLeft = false;
  wentBack = false;
  /** The newest version of the history that a restore took away. */
  lostRevision = 0;
  /** A relay ended that may have noticed the restore, and not said so yet. */
  isRestoreUnsaid = false;
  #wentBackAtMs = Number.NEGATIVE_INFINITY;
  readonly deletedImports = new Set<string>();
  onRestore = (): void => {};
  readonly isHostile: boolean;
  readonly hostileRelay: HostileRelay | undefined;
  #lambdas: Lambdas | undefined;
  readonly #world: SetState;

  constructor(
    world: SetState,
    takesPart: MemberProfile,
    network: string,
    { mutant, said, others }: MemberParts,
  ) {
    const { random, profile, scheduler } = world;
    this.#world = world;
    this.cluster = takesPart.id;
    this.takesPart = takesPart;
    this.network = network;
    this.isHostile = takesPart.id === hostileId;
    this.hostileRelay = this.isHostile ? new HostileRelay(random, namespacesOf(profile)) : undefined;
    this.random = random;
    this.profile = profile;
    this.scheduler = scheduler;
    const isNewer = world.set.newer && takesPart === world.set.members.find((m) => m.exports);
    this.table = reachable(
      isNewer ? withNewerEntries(world.table, this.cluster) : world.table,
      () => world.isTableGone,
    );
    this.metrics = world.metrics;
    this.faultsEnd = world.faultsEnd;
    let uids = 0;
    this.store = new Store({
      now: () => scheduler.now,
      uid: () => `${this.cluster}-${++uids}`,
      suffix: () => (++uids).toString(36).padStart(5, 'x'),
      dualStack: false,
    });
    this.queues = this.#makeQueues();
    this.writerLimits = new WriterLimits(
      this.store,
      profile,
      () => scheduler.now,
      (what) => this.fail(what),
    );
    const { outageMs } = profile;
    const isDown = outageMs > 0 && random.chance(0.5);
    const downFrom = isDown
      ? scheduler.now + random.between(0, Math.max(0, profile.faultsUntilMs - outageMs))
      : Number.POSITIVE_INFINITY;
    const outage = new ClusterApiError(
      'the cluster is not there',
      random.pick([{ status: 0 }, { status: 500 }, { status: 401 }]),
    );
    const faults: Faults = {
      profile,
      random,
      isOver: () => this.isOver,
      outage: () => {
        if (scheduler.now >= this.burntAt) return new ClusterApiError('connection refused', { status: 0 });
        return scheduler.now >= downFrom && scheduler.now < downFrom + outageMs ? outage : undefined;
      },
      refusedService: undefined,
      isServed: (kind) => this.servesMcs || !isMcsKind(kind),
    };
    const slow = (): number => (this.isOver ? 0 : profile.slow);
    this.processes = new Processes(this, {
      faults,
      surroundings: { scheduler, random, slow, trace: said, fail: (what) => this.fail(what) },
      mutant,
      others,
    });
    this.relays = new Relays(this.processes);
    this.operations = new Operations(this.processes);
  }

  get isOver(): boolean {
    return this.#world.isOver;
  }

  get workers(): number {
    return this.#lambdas?.syncContainers ?? 0;
  }

  checkRefused(kind: string, { metadata: { name, labels = {} } }: Labelled): void {
    if (kind === this.refused?.kind && (labels[labelMcsService] ?? name) === this.refused.name)
      throw this.refused.error;
  }

  fail(what: string): void {
    this.#world.fail(`${this.cluster}: ${what}`);
  }

  say(what: string): void {
    this.#world.tell(`cluster ${this.cluster}`, what);
  }

  /** Objects of the beginning, and what the cluster does by itself. */
  begin(): Life | undefined {
    const { store, random, scheduler, profile } = this;
    const until = scheduler.now + profile.faultsUntilMs;
    const tell = (what: string): void => this.say(what);
    const life = new Life({ store, random, scheduler, profile, tell }, this.network);
    if (this.takesPart.exports) life.begin();
    for (const name of namespacesOf(profile)) {
      const isLate = random.chance(0.25);
      const create = (): void => {
        if (!store.find('Namespace', '', name)) store.create('Namespace', '', { metadata: { name } });
      };
      if (!isLate) create();
      else if (random.chance(0.7)) scheduler.at(until - random.between(0, profile.faultsUntilMs), create);
    }
    return this.takesPart.exports ? life : undefined;
  }

  startProcesses(): void {
    const { scheduler, random, profile } = this;
    this.#lambdas = new Lambdas(this.processes);
    this.relays.start();
    for (let i = 0; i < profile.relayKills; i++)
      scheduler.after(random.between(0, profile.faultsUntilMs - 1), () => {
        if (!this.hasLeft && this.relays.all.length > 0) this.relays.replaceOne();
      });
  }

  killRelays(): void {
    if (this.scheduler.now - this.#wentBackAtMs < saidAfterMs) this.isRestoreUnsaid = true;
    for (const relay of [...this.relays.all]) this.relays.kill(relay);
  }

  /** No relay of the cluster is there for a while. */
  silence(ms: number): void {
    this.say(`silent for ${ms} ms`);
    this.killRelays();
    this.scheduler.after(ms, () => {
      if (!this.hasLeft && this.relays.all.length === 0) this.relays.start();
    });
  }

  /** All objects of the kinds go with them. Installed again they are empty. */
  uninstall(ms: number): void {
    this.say('the kinds of the Multi-Cluster Services API are uninstalled');
    this.#noteDeletedImports();
    for (const kind of ['ServiceExport', 'ServiceImport'] as const)
      for (const { metadata } of this.store.list(kind))
        this.store.remove(kind, metadata.namespace ?? '', metadata.name);
    this.servesMcs = false;
    this.relays.cut();
    this.scheduler.after(ms, () => {
      this.say('the kinds of the Multi-Cluster Services API are installed again');
      this.servesMcs = true;
    });
  }

  #noteDeletedImports(): void {
    for (const { metadata } of this.store.list('ServiceImport'))
      this.deletedImports.add(`${metadata.namespace}/${metadata.name}`);
  }

  /** A backup is taken now, and what happens in the next `ms` is lost. */
  goBackIn(ms: number): void {
    const { store, scheduler } = this;
    const { lease } = this.relays;
    const backup = {
      revision: store.resourceVersion,
      objects: storeKinds.flatMap((kind) => store.list(kind)),
      lease: lease.now,
    };
    store.resourceVersion += 100_000;
    scheduler.after(ms, () => {
      this.say(`restored at ${backup.revision} after ${store.resourceVersion}`);
      this.#noteDeletedImports();
      this.lostRevision = store.resourceVersion;
      store.restore(backup.objects, backup.revision);
      lease.now = backup.lease;
      this.wentBack = true;
      this.#wentBackAtMs = scheduler.now;
      this.relays.cut();
      this.onRestore();
      for (const later of [500, 3_000]) scheduler.after(later, () => collectGarbage(store));
      this.prescribedUntil = Math.max(this.prescribedUntil, scheduler.now + 120_000);
    });
  }

  /** Taken out of the fleet: its queues are deleted, and nothing of it runs any more. */
  leave(): void {
    this.hasLeft = true;
    this.killRelays();
    for (const queue of Object.values(this.queues)) {
      queue.messages.clear();
      queue.onVisible = () => {};
    }
  }

  #makeQueues(): { readonly [Q in QueueName]: Queue } {
    const { scheduler, random, profile } = this;
    const { burns } = this.#world.set;
    const { runs } = profile.limits;
    const queue = (name: QueueName, visibilityMs: number, maxReceives: number): Queue =>
      new Queue(scheduler, random, {
        name,
        visibilityMs,
        maxReceives,
        duplicates: () => (this.isOver ? 0 : profile.duplicates),
        delayMs: (body) =>
          this.isOver
            ? 30
            : burns && body.includes('"type":"heartbeat"')
              ? heartbeatsLateMs
              : profile.delayMs,
      });
    return {
      events: queue('events', runs.visibilityRuns * runs.ingestMs, runs.maxReceives),
      syncs: queue('syncs', runs.visibilityRuns * runs.workerMs, profile.syncReceives),
      parked: queue('parked', 30_000, 1e9),
      quarantine: queue('quarantine', 30_000, 1e9),
    };
  }
}
