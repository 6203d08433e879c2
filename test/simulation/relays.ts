/** The real relay, as often as it is started: killed, started anew, two at once. */
import type { Clock } from '#functions/relay/clock.ts';
import { Meter } from '#functions/relay/meter.ts';
import { Relay } from '#functions/relay/relay.ts';
import type { Actor } from './actor.ts';
import type { Processes } from './processes.ts';
import { cluster } from './profile.ts';
import { type Watched, watchSource } from './watch-source.ts';
import type { World } from './world.ts';

interface RelayProcess {
  readonly actor: Actor;
  readonly source: Watched;
  readonly relay: Relay;
  readonly ended: AbortController;
}

export class Relays {
  /** Those that live. */
  all: RelayProcess[] = [];
  readonly #world: World;
  readonly #processes: Processes;

  constructor(processes: Processes) {
    this.#processes = processes;
    this.#world = processes.world;
  }

  /** Has every relay listed, and sent all that it has read? */
  get areIdle(): boolean {
    return this.all.every((r) => r.relay.isReady && (r.relay.gauges()[0]?.values[0]?.[1] ?? 0) === 0);
  }

  start(): void {
    const actor = this.#processes.actor('relay');
    const source = watchSource(actor, this.#world.store, this.#processes.faults);
    const clock: Clock = {
      now: () => this.#world.scheduler.now,
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
    const relay = new Relay(
      {
        source,
        queue: this.#processes.queue(actor, 'events'),
        clock,
        log: this.#processes.log(actor),
        meter: new Meter(),
        newId: () => this.#processes.newId(actor),
      },
      { cluster, outputs: 'metadata', pageSize: this.#world.profile.pageSize, resyncMs: this.#world.profile.relistMs },
    );
    const ended = new AbortController();
    this.all.push({ actor, source, relay, ended });
    actor.trace('relay starts');
    const over = (e?: unknown): void => {
      if (!actor.dead) this.#world.fail(`the relay ended: ${e instanceof Error ? e.stack : String(e)}`);
    };
    relay.run(ended.signal).then(over, over);
  }

  /** Lists anew, as the relay does every half hour. */
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
    // For a while nobody may be there.
    if (this.all.length === 0)
      this.#world.scheduler.after(Math.min(this.#world.random.between(1, 15_000), this.#world.faultsEnd - this.#world.scheduler.now - 1), () =>
        this.start(),
      );
    else this.#world.abandoned = true;
  }

  /** The API server ends, and is there again at once. */
  cut(): void {
    for (const { source } of this.all) source.cut();
  }

  kill(relay: RelayProcess): void {
    relay.actor.die('KILLED');
    relay.source.close();
    // Nothing of it happens any more; Node keeps what listens to a signal until the signal is aborted.
    relay.ended.abort();
    this.all = this.all.filter((r) => r !== relay);
    if (this.all.length > 0) this.#world.abandoned = true;
  }
}
