/** Processes of the real relay: killed, restarted, two at once, or two that elect a leader by a Lease. */
import { Election } from '#functions/relay/election/election.ts';
import { Relay } from '#functions/relay/relay.ts';
import type { Clock } from '#functions/relay/runtime/clock.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import { memoryLease } from '#test/support/memory/lease-memory.ts';
import { type RelayWays, relayWays } from '#test/worlds/simulation/faults/relay-ways.ts';
import type { Actor } from './actor.ts';
import type { Processes } from './processes.ts';
import { type Watched, watchSource } from './watch-source.ts';
import type { WorldState } from './world-state.ts';

interface RelayProcess {
  readonly actor: Actor;
  readonly source: Watched;
  readonly ways: RelayWays;
  readonly relay: Relay;
  readonly ended: AbortController;
}

/** The number of entries that the relay has read and not sent. */
const waitingIn = ({ relay }: RelayProcess): number => relay.gauges()[0]?.values[0]?.[1] ?? 0;

export class Relays {
  /** The live relays. */
  all: RelayProcess[] = [];
  readonly lease = memoryLease();
  readonly #world: WorldState;
  readonly #processes: Processes;

  constructor(processes: Processes) {
    this.#processes = processes;
    this.#world = processes.world;
  }

  /** Returns true if every relay has listed, has sent all its entries, and watches. */
  get areIdle(): boolean {
    const speaking = this.all.filter((r) => r.relay.isLeading);
    return (
      speaking.length > 0 &&
      speaking.every((r) => r.relay.isReady && !r.source.awaitsWatch && waitingIn(r) === 0)
    );
  }

  get haveSentAll(): boolean {
    return this.all.every((r) => waitingIn(r) === 0);
  }

  start(): void {
    const actor = this.#processes.actor('relay');
    const source = watchSource(actor, this.#world.store, this.#processes.faults);
    const clock: Clock = {
      now: () => this.#world.scheduler.now + this.#world.profile.clocks.relayAheadMs,
      monotonic: () => this.#world.scheduler.now,
      random: () => this.#world.random.next(),
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
    const queue = this.#processes.queue(actor, 'events');
    const ways = relayWays(actor, { source, queue, lease: this.lease }, this.#processes.faults);
    const log = this.#processes.log(actor);
    const meter = new Meter();
    const { limits } = this.#world.profile;
    const election = new Election({ store: ways.lease, clock, log, meter, id: actor.name, limits });
    const relay = new Relay(
      {
        source: ways.source,
        queue: { send: (messages) => this.#witness(actor, () => ways.queue.send(messages)) },
        ...(this.#world.profile.standby && { election }),
        clock,
        log,
        meter,
        newId: () => this.#processes.newId(actor),
        limits,
      },
      {
        cluster: this.#world.cluster,
        clusterset: this.#world.profile.clusters > 1,
        outputs: this.#world.profile.isBeside ? 'full' : 'metadata',
        resyncMs: this.#world.profile.relistMs,
      },
    );
    if (this.#world.profile.standby) this.#processes.mutant?.turns?.(relay, election);
    const ended = new AbortController();
    this.all.push({ actor, source, ways, relay, ended });
    actor.trace('relay starts');
    const over = (e?: unknown): void => {
      if (!actor.dead) this.#world.fail(`the relay ended: ${e instanceof Error ? e.stack : String(e)}`);
    };
    relay.run(ended.signal).then(over, over);
  }

  /** Checks that only the holder of the lease sends, even after a pause. */
  #witness<T>(actor: Actor, send: () => T): T {
    const { standby, goesBack } = this.#world.profile;
    const { now } = this.lease;
    if (standby && goesBack === 'never' && !actor.dead && now?.holder !== actor.name)
      this.#world.fail(`${actor.name} speaks while ${now?.holder || 'nobody'} holds the lease`);
    return send();
  }

  /** Lists again, as the relay does every half hour. */
  relist(): void {
    // Something always happens in a cluster between two lists.
    this.#world.store.apply(this.#world.store.get('Namespace', '', 'default'));
    for (const relay of [...this.all]) this.kill(relay);
    this.start();
  }

  /** Lets go of what would stay in memory. */
  close(): void {
    for (const relay of [...this.all]) this.kill(relay);
  }

  replaceOne(): void {
    if (this.#world.isOver || this.all.length === 0) return;
    this.kill(this.#world.random.pick(this.all));
    // For a while there may be no relay.
    if (this.all.length === 0 || this.#world.profile.standby) this.#startLater();
    else this.#world.abandoned = true;
  }

  #startLater(): void {
    const { scheduler, random, faultsEnd } = this.#world;
    scheduler.after(Math.min(random.between(1, 15_000), faultsEnd - scheduler.now - 1), () => this.start());
  }

  /** Pauses one of the electing relays past its lease, or cuts its connection to the queue. */
  disturbOne(): void {
    const { random, isOver, faultsEnd, scheduler } = this.#world;
    if (isOver || this.all.length === 0) return;
    const { actor, ways } = random.pick(this.all);
    const ms = Math.min(random.between(2_000, 25_000), faultsEnd - scheduler.now - 1);
    const what = random.pick(['frozen', 'api', 'queue'] as const);
    if (ms <= 0) return;
    if (what === 'frozen') actor.freeze(ms);
    else ways.cut(what, ms);
  }

  /** The API server ends, and is there again at once. */
  cut(): void {
    for (const { source } of this.all) source.cut();
  }

  kill(relay: RelayProcess): void {
    relay.actor.die('KILLED');
    relay.source.close();
    // The relay has ended, but Node keeps listeners of a signal until the signal is aborted.
    relay.ended.abort();
    this.all = this.all.filter((r) => r !== relay);
    if (this.all.length > 0 && !this.#world.profile.standby) this.#world.abandoned = true;
  }
}
