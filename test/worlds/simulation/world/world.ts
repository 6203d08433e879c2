/** One seed's world: a cluster that lives, its relays, and the hub with the real ingest, sync and sweep. */
import { type RawObject, storeKinds } from '#infra/local/apiserver/api-kinds.ts';
import { collectGarbage } from '#infra/local/apiserver/gc.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { drainCluster } from '#shared/clusters/writer/mode-switch.ts';
import { isPodTerminal } from '#shared/kube/pods.ts';
import type { Pod } from '#shared/kube/types.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { beginsRebuilt, drawClocks, looksLikeNone } from '#test/worlds/simulation/faults/clocks.ts';
import { Culprit, drawCulprit, firstListsMs } from '#test/worlds/simulation/faults/culprit.ts';
import { drawTenant, isOfTenant, LargeTenant } from '#test/worlds/simulation/faults/large-tenant.ts';
import { drawLongOutage } from '#test/worlds/simulation/faults/long-outage.ts';
import { drawPartialAnswers } from '#test/worlds/simulation/faults/partial-answers.ts';
import { cluster, drawProfile, modeOf, type Profile } from '#test/worlds/simulation/faults/profile.ts';
import { drawSilentApi } from '#test/worlds/simulation/faults/silent-api.ts';
import { drawZones, ZonalShift } from '#test/worlds/simulation/faults/zones.ts';
import type { Mutant } from '#test/worlds/simulation/mutants/mutant.ts';
import { BuiltInControllers } from '#test/worlds/simulation/opt-in/built-in.ts';
import { drawOptIn } from '#test/worlds/simulation/opt-in/draw.ts';
import { People } from '#test/worlds/simulation/opt-in/people.ts';
import { WriterLimits } from '#test/worlds/simulation/opt-in/writer-limits.ts';
import { ExplainedNow } from '#test/worlds/simulation/promises/explained-now.ts';
import { ListedThen } from '#test/worlds/simulation/promises/listed-then.ts';
import { type Monitor, monitor } from '#test/worlds/simulation/promises/monitor.ts';
import { Promptness } from '#test/worlds/simulation/promises/promptness.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import { Lambdas } from './lambdas.ts';
import { Life } from './life.ts';
import { Operations } from './operations.ts';
import type { Faults } from './ports.ts';
import { Processes } from './processes.ts';
import { type Message, Queue } from './queue.ts';
import { Relays } from './relays.ts';
import { drainMicrotasks, Scheduler } from './scheduler.ts';
import { inMemory, type SimulatedTable } from './simulated-table.ts';
import { Sweeps } from './sweeps.ts';
import type { QueueName, WorldState } from './world-state.ts';

const eks = { url: 'https://eks.example', auth: { type: 'eks', clusterName: cluster } } as const;
const startAt = Date.parse('2026-01-01T00:00:00Z');

export interface WorldOptions {
  readonly seed: number;
  readonly mutant?: Mutant | undefined;
  readonly trace?: ((line: string) => void) | undefined;
  readonly drain?: () => Promise<void>;
  readonly table?: SimulatedTable;
}

/** What a cluster goes back to, and how. */
interface Backup {
  readonly how: 'restored' | 'raised' | 'recreated';
  readonly revision: number;
  readonly objects: readonly RawObject[];
  readonly lease: Relays['lease']['now'];
}

export class World implements WorldState {
  readonly cluster = cluster;
  readonly seed: number;
  readonly random: Random;
  readonly profile: Profile;
  readonly scheduler: Scheduler;
  readonly store: Store;
  readonly table: SimulatedTable;
  readonly queues: { readonly [Q in QueueName]: Queue };
  readonly failures: string[] = [];
  readonly faultsEnd: number;
  readonly monitor: Monitor;
  readonly listedThen: ListedThen;
  readonly explainedNow: ExplainedNow;
  readonly writerLimits: WriterLimits;
  readonly zonalShift: ZonalShift | undefined;
  readonly metrics = new Map<string, number>();
  prescribedUntil = 0;
  abandoned = false;
  /** A namespace was deleted, with the outputs in it. */
  hasDeletedNamespace = false;
  redriven = 0;
  /** Since when the cluster is not in active mode. */
  awaySince = Number.POSITIVE_INFINITY;
  /** When the cluster went back to what it was before. */
  wentBackAt = Number.POSITIVE_INFINITY;
  readonly #trace: ((who: string, what: string) => void) | undefined;
  readonly #mutant: Mutant | undefined;
  readonly #processes: Processes;
  readonly #sweeps: Sweeps;
  readonly #relays: Relays;
  /** Randomness for events that exist only with opt-in. */
  readonly #optInRandom: Random;
  #builtIn: BuiltInControllers | undefined;
  #outageFrom = Number.POSITIVE_INFINITY;
  #outage: ClusterApiError | undefined;
  #refusedService: string | undefined;
  isOver = false;

  constructor({ seed, mutant, trace, drain = drainMicrotasks, table = inMemory() }: WorldOptions) {
    this.seed = seed;
    this.table = table;
    this.#mutant = mutant;
    this.random = new Random(seed);
    const drawn = drawProfile(this.random, new Random(seed + 0x5eed), mutant !== undefined);
    const optIn = { ...drawn, ...drawOptIn(seed, drawn, mutant !== undefined) };
    const calm = mutant !== undefined;
    const partial = { ...optIn, ...drawPartialAnswers(seed, optIn, calm) };
    const blamed = {
      ...partial,
      ...drawTenant(seed, partial, calm),
      ...drawCulprit(seed, calm),
      ...drawLongOutage(seed, calm),
      ...drawSilentApi(seed, calm),
    };
    const zoned = { ...blamed, ...drawZones(seed, blamed, calm) };
    this.profile = { ...zoned, clocks: drawClocks(seed, zoned, calm), ...mutant?.profile };
    this.#optInRandom = new Random(seed + 0x0b72);
    this.scheduler = new Scheduler(startAt, drain);
    this.faultsEnd = startAt + this.profile.faultsUntilMs;
    const { scheduler, random, profile } = this;
    this.zonalShift = profile.zonalShift === 'never' ? undefined : new ZonalShift(seed, startAt, profile);
    const slow = (): number => (this.isOver ? 0 : profile.slow);
    const said =
      trace &&
      ((who: string, what: string) =>
        trace(`${((scheduler.now - startAt) / 1000).toFixed(3).padStart(9)} ${who.padEnd(12)} ${what}`));
    this.#trace = said;
    let uids = 0;
    this.store = new Store({
      now: () => scheduler.now + profile.clocks.apiServerAheadMs,
      uid: () => `uid-${++uids}`,
      suffix: () => (++uids).toString(36).padStart(5, 'x'),
    });
    const world = this;
    const faults: Faults = {
      profile,
      random,
      isOver: () => this.isOver,
      outage: () =>
        scheduler.now >= this.#outageFrom && scheduler.now < this.#outageFrom + profile.outageMs
          ? this.#outage
          : undefined,
      get refusedService() {
        return world.#refusedService;
      },
      culprit:
        profile.culprit === 'none'
          ? undefined
          : new Culprit(profile.culprit, seed, () => !this.isOver && scheduler.now > startAt + firstListsMs),
    };
    const { runs } = profile.limits;
    const queue = (name: QueueName, visibilityMs: number, maxReceives: number): Queue =>
      new Queue(scheduler, random, {
        name,
        visibilityMs,
        maxReceives,
        duplicates: () => (this.isOver ? 0 : profile.duplicates),
        delayMs: () => (this.isOver ? 30 : profile.delayMs),
      });
    this.queues = {
      events: queue('events', runs.visibilityRuns * runs.ingestMs, runs.maxReceives),
      syncs: queue('syncs', runs.visibilityRuns * runs.workerMs, profile.syncReceives),
      parked: queue('parked', 30_000, 1e9),
      quarantine: queue('quarantine', 30_000, 1e9),
    };
    this.listedThen = new ListedThen(this.store, profile, () => scheduler.now);
    this.store.watch('Namespace', ({ type }) => {
      this.hasDeletedNamespace ||= type === 'DELETED';
    });
    this.monitor = monitor({
      cluster,
      store: this.store,
      table: this.table,
      profile,
      fail: (what) => this.fail(what),
      isBeginning: () => scheduler.now === startAt,
      wentBackAt: () => this.wentBackAt,
      wrote: (namespace, service) => this.listedThen.wrote(namespace, service),
    });
    new Promptness({
      store: this.store,
      scheduler,
      profile,
      isRestless: this.monitor.isRestless,
      fail: (what) => this.fail(what),
    });
    this.writerLimits = new WriterLimits(
      this.store,
      profile,
      () => scheduler.now,
      (what) => this.fail(what),
    );
    this.explainedNow = new ExplainedNow({
      ...{ cluster, scheduler, profile },
      store: this.store,
      table: this.table,
      fail: (what) => this.fail(what),
    });
    this.#processes = new Processes(this, {
      faults,
      surroundings: { scheduler, random, slow, trace: said, fail: (what) => this.fail(what) },
      mutant,
    });
    this.#relays = new Relays(this.#processes);
    this.#sweeps = new Sweeps(this.#processes);
  }

  fail(what: string): void {
    this.failures.push(`at ${((this.scheduler.now - startAt) / 1000).toFixed(3)} s: ${what}`);
    this.tell('FAILURE', what);
  }

  tell(who: string, what: string): void {
    this.#trace?.(who, what);
  }

  /** Everything until the last fault. */
  async liveThroughFaults(): Promise<void> {
    const { scheduler, random, profile } = this;
    this.tell('world', `seed ${this.seed}: ${JSON.stringify(profile)}`);
    await this.#register();
    if (beginsRebuilt(profile)) {
      await drainCluster(this.table, cluster, startAt);
      await this.#register();
    }
    const tell = (what: string): void => this.tell('cluster', what);
    const life = new Life({ store: this.store, random, scheduler, profile, tell });
    life.begin();
    const tenant =
      profile.tenant === 'large'
        ? new LargeTenant(this.store, new Random(this.seed + 0x7e4b), scheduler, profile)
        : undefined;
    tenant?.begin();
    const people = this.#beginOptIn();
    this.listedThen.lookAtAll();
    new Lambdas(this.#processes);
    const operations = new Operations(this.#processes);
    this.#relays.start();
    if (profile.twoRelays)
      scheduler.after(random.between(0, profile.faultsUntilMs / 2), () => this.#relays.start());
    if (profile.standby) scheduler.after(random.between(0, 5_000), () => this.#relays.start());
    for (let i = 0; i < profile.relayFaults; i++)
      scheduler.after(random.between(0, profile.faultsUntilMs - 1), () => this.#relays.disturbOne());
    for (let i = 0; i < profile.relayKills; i++)
      scheduler.after(random.between(0, profile.faultsUntilMs - 1), () => this.#relays.replaceOne());
    this.#everySoOften(profile.sweepMs, () => operations.sweep(this.#sweeps));
    this.#everySoOften(20_000, () => operations.redrive());
    for (let i = 0; i < profile.modeSwitches; i++) operations.planPause();
    if (profile.goesBack !== 'never') this.#planBackup(profile.goesBack);
    if (profile.outageMs > 0) {
      this.#outageFrom = startAt + random.between(0, Math.max(0, profile.faultsUntilMs - profile.outageMs));
      this.#outage = new ClusterApiError(
        'the cluster is not there',
        random.pick([{ status: 0 }, { status: 500 }, { status: 401 }, { status: 429, retryAfterSeconds: 7 }]),
      );
    }
    if (profile.webhook) this.#refusedService = `a/s${random.between(0, 1)}`;
    life.live();
    people?.live();
    tenant?.live();
    for (let i = 0; i < profile.optInSwitches; i++) operations.planOptInSwitch(this.#optInRandom);
    const zoneRandom = new Random(this.seed + 0x20e6);
    for (let i = 0; i < profile.zoneSwitches; i++) operations.planZoneSwitch(zoneRandom);
    this.#mutant?.begin?.(this);
    await scheduler.runUntil(this.faultsEnd);
    this.isOver = true;
    this.tell('world', 'the last fault is over');
    if (!profile.standby && this.#relays.all.length > 1) this.#relays.kill(random.pick(this.#relays.all));
    for (const q of [this.queues.events, this.queues.syncs])
      for (const m of q.messages.values()) this.prescribedUntil = Math.max(this.prescribedUntil, m.visibleAt);
  }

  async #register(): Promise<void> {
    const { optIn, batchPeriodSeconds, maxEndpointsPerSlice, cleanup } = this.profile;
    const settings = { batchPeriodSeconds, maxEndpointsPerSlice, optInCleanup: cleanup };
    const registration = {
      id: cluster,
      mode: modeOf(this.profile),
      ...(optIn !== 'off' && { optIn }),
      ...(this.zonalShift && { api: eks }),
      settings,
    };
    await registerCluster(this.table, registration, startAt);
  }

  #beginOptIn(): People | undefined {
    const { store, scheduler, profile } = this;
    if (profile.optIn === 'off') return undefined;
    const tell = (what: string): void => this.tell('cluster', what);
    const people = new People({ store, random: this.#optInRandom, scheduler, profile, tell });
    people.begin();
    if (profile.isBeside)
      this.#builtIn = new BuiltInControllers(store, scheduler, this.#optInRandom, {
        profile,
        shift: this.zonalShift,
      });
    this.#builtIn?.start();
    return people;
  }

  /** The objects of a backup as the cluster has them again. */
  #objectsOf({ how, objects }: Backup): readonly RawObject[] {
    if (how === 'recreated')
      return objects.map((o) =>
        o.metadata.name === 'kube-system' ? { ...o, metadata: { ...o.metadata, uid: 'uid-of-the-new' } } : o,
      );
    if (how === 'restored') return objects;
    // A terminated pod that runs again would wake no service (PK-8).
    const ended = new Set(
      this.store.list('Pod').flatMap((p) => (isPodTerminal(p as unknown as Pod) ? [p.metadata.uid] : [])),
    );
    return objects.filter((o) => !ended.has(o.metadata.uid));
  }

  #planBackup(how: Backup['how']): void {
    const { scheduler, random, profile, store } = this;
    const [backupAt, backAt] = [
      random.between(1, profile.faultsUntilMs - 1),
      random.between(1, profile.faultsUntilMs - 1),
    ].sort((a, b) => a - b);
    scheduler.after(backupAt as number, () => {
      const backup: Backup = {
        how,
        lease: this.#relays.lease.now,
        revision: store.resourceVersion,
        objects: storeKinds.flatMap((kind) => store.list(kind)),
      };
      // The gap is larger than the new history's progress during a broken connection of the relay. Otherwise
      // the two histories could not be distinguished (docs/develop/architecture.md, "Not guaranteed").
      store.resourceVersion += 100_000;
      scheduler.after((backAt as number) - (backupAt as number), () => void this.#goBack(backup));
    });
  }

  async #goBack(backup: Backup): Promise<void> {
    const { scheduler, random, profile, store } = this;
    const { how } = backup;
    const isUnnoticeable =
      how === 'restored' &&
      beginsRebuilt(profile) &&
      (await looksLikeNone(this.table, scheduler.now, profile.clocks, backup.revision));
    // A restore takes longer than the relay needs to send what it has read.
    if (isUnnoticeable || (how === 'raised' && !this.#relays.haveSentAll)) {
      if (!this.isOver) scheduler.after(1_000, () => void this.#goBack(backup));
      return;
    }
    const revision =
      how === 'raised'
        ? store.resourceVersion + 1
        : backup.revision + (how === 'recreated' ? random.between(0, 200) : 0);
    this.tell('world', `the cluster is ${how} at ${revision} after ${store.resourceVersion}`);
    store.restore(this.#objectsOf(backup), revision);
    // It also takes longer than a message waits in the queue.
    if (how === 'raised') this.queues.events.messages.clear();
    this.#relays.lease.now = how === 'recreated' ? undefined : backup.lease;
    this.#relays.cut();
    this.#builtIn?.wake();
    this.wentBackAt = scheduler.now;
    this.listedThen.lookAtAll();
    for (const ms of [500, 3_000]) scheduler.after(ms, () => collectGarbage(store));
    // Sweep looks within a minute, and what had to wait for it comes half a minute later.
    this.prescribedUntil = Math.max(this.prescribedUntil, scheduler.now + 120_000);
  }

  /** Lists again, as the relay does every half hour. */
  relist(): void {
    this.#relays.relist();
  }

  /** Lets go of what would stay in memory. */
  close(): void {
    this.#relays.close();
  }

  #everySoOften(ms: number, run: () => void): void {
    const again = (): void => {
      run();
      this.scheduler.after(ms, again);
    };
    this.scheduler.after(this.random.between(1, ms), again);
  }

  isIdle(): boolean {
    if (this.queues.parked.messages.size > 0 || this.#sweeps.areUnderWay) return false;
    const isHeartbeat = (m: Message): boolean => m.body.includes('"type":"heartbeat"');
    return (
      [...this.queues.events.messages.values()].every(isHeartbeat) &&
      [...this.queues.syncs.messages.values()].every(({ body }) =>
        isOfTenant((decodeMessage(body) as WakeUpMessage).namespace),
      ) &&
      [...this.queues.events.dead, ...this.queues.syncs.dead].length === 0 &&
      this.#relays.areIdle
    );
  }
}
