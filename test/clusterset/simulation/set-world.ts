/** One seed's world of several clusters, one hub, and people who export and import between them. */
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { drainCluster } from '#shared/clusters/writer/mode-switch.ts';
import { type ClustersetMembership, noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';
import type { Mutant } from '#test/worlds/simulation/mutants/mutant.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import type { Message } from '#test/worlds/simulation/world/queue.ts';
import { drainMicrotasks, Scheduler } from '#test/worlds/simulation/world/scheduler.ts';
import { inMemory, type SimulatedTable } from '#test/worlds/simulation/world/simulated-table.ts';
import { Sweeps } from '#test/worlds/simulation/world/sweeps.ts';
import type { WorldOptions } from '#test/worlds/simulation/world/world.ts';
import { planBurning } from './burning.ts';
import { type DrawnSet, evictAfterSeconds, type SetProfile } from './draw.ts';
import { ExportingTenant } from './exporting-tenant.ts';
import { Member } from './member.ts';
import { SetMonitor } from './set-monitor.ts';
import { planHubTrouble } from './set-operators.ts';
import { SetPeople } from './set-people.ts';
import type { SetState } from './set-state.ts';

const startAt = Date.parse('2026-01-01T00:00:00Z');

export class SetWorld implements SetState {
  readonly seed: number;
  readonly random: Random;
  readonly set: SetProfile;
  readonly profile: Profile;
  readonly scheduler: Scheduler;
  readonly table: SimulatedTable;
  readonly members: readonly Member[];
  readonly monitor: SetMonitor;
  readonly failures: string[] = [];
  readonly metrics = new Map<string, number>();
  readonly faultsEnd: number;
  readonly memberships = new Map<string, ClustersetMembership>();
  isOver = false;
  /** Every call of a process to the table fails. */
  isTableGone = false;
  readonly #sweeps: Sweeps;
  readonly #mutant: Mutant | undefined;
  readonly #said: ((who: string, what: string) => void) | undefined;

  constructor(
    { set, profile }: DrawnSet,
    { seed, mutant, trace, drain = drainMicrotasks, table = inMemory() }: WorldOptions,
  ) {
    this.seed = seed;
    this.set = set;
    this.profile = profile;
    this.table = table;
    this.#mutant = mutant;
    this.random = new Random(seed);
    this.scheduler = new Scheduler(startAt, drain);
    this.faultsEnd = startAt + profile.faultsUntilMs;
    const { scheduler } = this;
    this.#said =
      trace &&
      ((who: string, what: string) =>
        trace(`${((scheduler.now - startAt) / 1000).toFixed(3).padStart(9)} ${who.padEnd(12)} ${what}`));
    this.members = set.members.map(
      (m, i) =>
        new Member(this, m, `10.${i + 1}`, {
          mutant,
          said: this.#said,
          others: (id) => this.of(id).processes,
        }),
    );
    this.#sweeps = new Sweeps((this.members as [Member])[0].processes);
    this.monitor = new SetMonitor(this);
    for (const member of this.members) {
      member.monitor = this.monitor.of(member);
      member.onRestore = () => this.monitor.onSwitch();
    }
  }

  of(id: string): Member {
    const member = this.members.find((m) => m.cluster === id);
    if (!member) throw new Error(`no cluster ${id}`);
    return member;
  }

  /** The members in the fleet whose relays are not hostile. */
  get present(): readonly Member[] {
    return this.members.filter((m) => !m.hasLeft && !m.isHostile);
  }

  fail(what: string): void {
    this.failures.push(`at ${((this.scheduler.now - startAt) / 1000).toFixed(3)} s: ${what}`);
    this.tell('FAILURE', what);
  }

  tell(who: string, what: string): void {
    this.#said?.(who, what);
  }

  async liveThroughFaults(): Promise<void> {
    const { scheduler, profile, set } = this;
    this.tell('world', `seed ${this.seed}: ${JSON.stringify(set)} ${JSON.stringify(profile)}`);
    for (const member of this.members) {
      await this.register(member);
      await this.#join(member);
    }
    const lives = this.members.map((member) => member.begin());
    const people = new SetPeople(this);
    people.begin();
    const [exporter] = this.members.filter((m) => m.takesPart.exports && !m.isHostile);
    const tenant = set.tenant && exporter ? new ExportingTenant(this, exporter) : undefined;
    tenant?.begin();
    for (const member of this.members) member.startProcesses();
    this.#everySoOften(profile.sweepMs, () => void this.#sweeps.run());
    this.#everySoOften(20_000, () => {
      for (const { operations, hasLeft } of this.members)
        if (!hasLeft && !this.isTableGone) operations.redrive();
    });
    for (const life of lives) life?.live();
    people.live();
    tenant?.live();
    this.#planTrouble();
    planHubTrouble(this);
    planBurning(this, this.members);
    const [first] = this.members;
    if (first) this.#mutant?.begin?.(first);
    await scheduler.runUntil(this.faultsEnd);
    this.isOver = true;
    this.tell('world', 'the last fault is over');
    for (const member of this.members.filter((m) => !m.hasLeft)) {
      // The replacing relay may start only after the end.
      if (member.relays.all.length === 0) member.relays.start();
      for (const q of [member.queues.events, member.queues.syncs])
        for (const m of q.messages.values())
          member.prescribedUntil = Math.max(member.prescribedUntil, m.visibleAt);
    }
  }

  /** Without a membership. */
  async register({ cluster }: Member): Promise<void> {
    const { table, profile, scheduler } = this;
    const api = { url: `https://${cluster}`, auth: { type: 'secret', secretArn: 'arn' } } as const;
    const settings = { batchPeriodSeconds: 0, maxEndpointsPerSlice: profile.maxEndpointsPerSlice };
    await registerCluster(table, { id: cluster, mode: 'shadow', api, settings }, scheduler.now);
  }

  async #join({ cluster, takesPart, network }: Member): Promise<void> {
    const { set } = this;
    await this.changeMembership(cluster, {
      ...noMembership,
      sameness: set.sameness,
      ...(set.burns && { evictAfterSeconds }),
      imports: takesPart.imports ? 'active' : 'off',
      exports: {
        namespaces: takesPart.exports ? 'all' : [],
        ...(takesPart.holdsRanges && { podCidrs: [`${network}.0.0/16`] }),
      },
    });
  }

  async changeMembership(cluster: string, membership: ClustersetMembership): Promise<void> {
    this.tell('operator', `${cluster}: ${JSON.stringify(membership)}`);
    this.memberships.set(cluster, membership);
    this.monitor.onSwitch();
    await saveMembership(this.table, cluster, membership);
  }

  #planTrouble(): void {
    const { scheduler, random, set, profile } = this;
    const honest = this.members.filter((m) => !m.isHostile);
    const at = (share: number): number => Math.floor(profile.faultsUntilMs * share);
    const exporter = random.pick(honest.filter((m) => m.takesPart.exports));
    if (set.silentMs > 0)
      scheduler.after(
        random.between(5_000, 18_000),
        () => !exporter.hasLeft && exporter.silence(set.silentMs),
      );
    if (set.refuses) this.#planRefusals();
    if (set.uninstalls) {
      const member = random.pick(honest);
      scheduler.after(random.between(at(0.2), at(0.6)), () =>
        member.uninstall(random.between(1_000, at(0.3))),
      );
    }
    if (set.restores) {
      const member = random.pick(honest);
      scheduler.after(random.between(at(0.1), at(0.4)), () =>
        member.goBackIn(random.between(1_000, at(0.5))),
      );
    }
    if (set.departs) {
      const member = random.pick(honest);
      scheduler.after(random.between(at(0.3), at(0.9)), () => {
        this.tell('operator', `${member.cluster} is taken out of the fleet`);
        member.leave();
        this.monitor.onSwitch();
        void drainCluster(this.table, member.cluster, scheduler.now);
      });
    }
  }

  /** Until the end of the faults. A refused import is tried again within five minutes. */
  #planRefusals(): void {
    const { scheduler, profile, set } = this;
    const random = new Random(this.seed + 0x5e7b);
    const importer = random.pick(this.members.filter((m) => m.takesPart.imports));
    const drawn = random.pick(['Service', 'ServiceImport', 'EndpointSlice']);
    const kind = set.refuses === 'Service' ? set.refuses : drawn;
    const error = new ClusterApiError(
      'refused',
      random.pick([
        { status: 403, reason: 'Forbidden' },
        { status: 422, reason: 'Invalid' },
        { status: 500 },
      ]),
    );
    scheduler.after(random.between(0, profile.faultsUntilMs / 2), () => {
      importer.say(`refuses ${kind} of import s0: ${error.status}`);
      importer.refused = { kind, name: 's0', error };
    });
    scheduler.at(this.faultsEnd, () => {
      importer.refused = undefined;
      importer.prescribedUntil = Math.max(importer.prescribedUntil, scheduler.now + 400_000);
    });
  }

  close(): void {
    for (const { relays } of this.members) relays.close();
  }

  get prescribedUntil(): number {
    return Math.max(...this.members.map((m) => m.prescribedUntil));
  }

  isIdle(): boolean {
    const isHeartbeat = (m: Message): boolean => m.body.includes('"type":"heartbeat"');
    if (this.#sweeps.areUnderWay) return false;
    return this.members
      .filter((m) => !m.hasLeft)
      .every(
        ({ queues, relays }) =>
          queues.parked.messages.size === 0 &&
          [...queues.events.messages.values()].every(isHeartbeat) &&
          queues.syncs.isEmpty &&
          [...queues.events.dead, ...queues.syncs.dead].length === 0 &&
          relays.areIdle,
      );
  }

  #everySoOften(ms: number, run: () => void): void {
    const again = (): void => {
      run();
      this.scheduler.after(ms, again);
    };
    this.scheduler.after(this.random.between(1, ms), again);
  }
}
