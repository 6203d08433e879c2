import type { Item } from '#shared/store/table.ts';
import type { Random } from '#test/worlds/simulation/random.ts';
import type { Scheduler } from './scheduler.ts';

export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** Share of the calls that are slow. */
  readonly slow: () => number;
  /** Undefined if no trace is wanted. */
  readonly trace: ((who: string, what: string) => void) | undefined;
  readonly fail: (what: string) => void;
}

/** The fault of one call. */
export interface Flaw {
  readonly error: Error;
  /**
   * Before the effect, after it, or: the effect twice and no error, as when a client repeats a call whose
   * answer got lost.
   */
  readonly when: 'before' | 'after' | 'twice';
}

/** A call of a process to the outside. */
export interface Call<T> {
  readonly kind: CallKind;
  readonly what: () => string;
  /** The longest that it takes to reach the other side where nothing is slow. */
  readonly msToReach: number;
  readonly effect: () => Promise<T>;
  readonly flaw: Flaw | undefined;
}

export type CallKind = 'read' | 'put' | 'update' | 'delete' | 'send' | 'api';

/** The fate of a process at its n-th call, or n-th call of a kind. */
export interface Fate {
  readonly on: CallKind | 'any';
  readonly atCall: number;
  /**
   * `stall`: the call takes long, and the process lives on. `hang`: it gets no answer, and the client makes
   * it again after `pauseMs`.
   */
  readonly what: 'crash' | 'pause' | 'stall' | 'hang';
  readonly pauseMs: number;
  /** Does the call still reach the other side, in time? */
  readonly reaches: boolean;
}

/** It runs services: for the events of ingest, or for wake-ups. */
export const isWorker = ({ name }: { readonly name: string }): boolean => /^(ingest|sync)-/.test(name);

/** One process: its calls to the outside take time, and it may die or stand still at any of them. */
export class Actor {
  readonly name: string;
  /** Every answer that the process has read from the snapshot, by key or partition. */
  readonly known = new Map<string, (readonly Item[])[]>();
  dead = false;
  /** True if the process was ever paused for longer than a lease. */
  paused = false;
  /**
   * The process failed a message that a formerly paused run has handled and deleted, so the message does not
   * return.
   */
  isRelieved = false;
  /**
   * The process may have sent no wake-ups: its batch came back, a run failed, or it left the wake-ups of a
   * cluster to sweep.
   */
  hasFailed = false;
  /** The warm container of the process, with its cached Pods. */
  container: object | undefined;
  /**
   * True if the API server refused a call or did not answer. The process then leaves its work to the next
   * try.
   */
  stumbled = false;
  /** Calls to the API server whose answer it no longer waits for, and which are still under way. */
  abandonedCalls = 0;
  /**
   * The handler has returned: Lambda freezes the process at once, so that what it begins now happens at the
   * next invocation, or never.
   */
  hasReturned = false;
  /** Met by no faults: its messages have no more lives. */
  readonly lucky: boolean;
  readonly #world: Surroundings;
  readonly #fate: Fate | undefined;
  readonly #onDeath: () => void;
  #calls = 0;
  #frozenUntil = 0;

  constructor(
    name: string,
    world: Surroundings,
    options: {
      readonly fate?: Fate | undefined;
      readonly lucky?: boolean;
      readonly onDeath?: () => void;
    } = {},
  ) {
    this.name = name;
    this.#world = world;
    this.#fate = options.fate;
    this.lucky = options.lucky ?? false;
    this.#onDeath = options.onDeath ?? (() => {});
  }

  learn(key: string, items: readonly Item[]): void {
    const reads = this.known.get(key);
    if (reads) reads.push(items);
    else this.known.set(key, [items]);
  }

  get now(): number {
    return this.#world.scheduler.now;
  }

  die(why: string): void {
    if (this.dead) return;
    this.dead = true;
    this.trace(why);
    this.#onDeath();
  }

  trace(what: string): void {
    this.#world.trace?.(this.name, what);
  }

  get isTraced(): boolean {
    return this.#world.trace !== undefined;
  }

  /** The effect happens at some later moment, and what awaits it goes on then or later still. */
  call<T>(call: Call<T>): Promise<T> {
    const { kind, what, msToReach, effect, flaw } = call;
    return new Promise((resolve, reject) => {
      if (this.dead) return;
      if (this.hasReturned) this.#world.fail(`${this.name} goes on after its end: ${what()}`);
      const { scheduler, random } = this.#world;
      const counts = this.#fate !== undefined && (this.#fate.on === 'any' || this.#fate.on === kind);
      const fate = counts && ++this.#calls === this.#fate?.atCall ? this.#fate : undefined;
      const usualMs =
        !this.lucky && random.chance(this.#world.slow())
          ? random.between(50, 3000)
          : random.between(1, msToReach);
      const { ms, answersLate } = this.#meets(fate, call, usualMs);
      if (fate?.what === 'crash' && !fate.reaches) return;
      const wasDead = this.dead;
      const answer = (run: () => void): void =>
        answersLate > 0 ? this.later(answersLate, run) : this.#whenAwake(run);
      scheduler.after(ms, () => {
        // The last request of a process before its death may or may not have arrived.
        if (this.dead && !wasDead && random.chance(0.5)) return;
        if (flaw?.when === 'before') {
          this.trace(`${what()} → ${flaw.error.message}`);
          return answer(() => reject(flaw.error));
        }
        const done = (value: T): void => {
          if (this.#world.trace) this.trace(`${what()} → ${show(value)}${flaw ? ` (${flaw.when})` : ''}`);
          if (flaw?.when === 'after') answer(() => reject(flaw.error));
          else answer(() => resolve(value));
        };
        const refused = (error: unknown): void => {
          this.trace(`${what()} → ${String(error)}`);
          answer(() => reject(error));
        };
        if (flaw?.when === 'twice') effect().then(effect).then(done, refused);
        else effect().then(done, refused);
      });
    });
  }

  /** The call's fate: when it reaches the other side, and how much later than that it is answered, ms. */
  #meets(
    fate: Fate | undefined,
    { what, effect }: Call<unknown>,
    usualMs: number,
  ): { readonly ms: number; readonly answersLate: number } {
    if (!fate) return { ms: usualMs, answersLate: 0 };
    const { pauseMs, reaches } = fate;
    const { scheduler } = this.#world;
    const where = `${reaches ? 'after' : 'before'} ${what()}`;
    switch (fate.what) {
      case 'pause':
        this.paused = true;
        this.#frozenUntil = scheduler.now + pauseMs;
        this.trace(`PAUSED for ${pauseMs} ms ${where}`);
        return { ms: reaches ? usualMs : pauseMs, answersLate: 0 };
      case 'stall':
        this.trace(`STALLED for ${pauseMs} ms ${where}`);
        return { ms: reaches ? usualMs : pauseMs, answersLate: reaches ? pauseMs : 0 };
      case 'hang':
        this.trace(`NO ANSWER ${where}`);
        if (reaches) scheduler.after(usualMs, () => void effect().catch(() => {}));
        return { ms: usualMs + pauseMs, answersLate: 0 };
      case 'crash':
        this.die(`CRASHED ${where}`);
        return { ms: usualMs, answersLate: 0 };
    }
  }

  /** Stands still: what it has sent arrives, and it learns of nothing. */
  freeze(ms: number): void {
    this.paused = true;
    this.#frozenUntil = Math.max(this.#frozenUntil, this.#world.scheduler.now + ms);
    this.trace(`FROZEN for ${ms} ms`);
  }

  /** Something that the process itself does later. */
  later(ms: number, run: () => void): void {
    this.#world.scheduler.after(ms, () => this.#whenAwake(run));
  }

  #whenAwake(run: () => void): void {
    if (this.dead) return;
    const { scheduler } = this.#world;
    if (this.#frozenUntil > scheduler.now) scheduler.at(this.#frozenUntil + 1, () => this.#whenAwake(run));
    else run();
  }
}

function show(value: unknown): string {
  if (value === undefined || typeof value === 'boolean') return String(value);
  const text = JSON.stringify(value, (_key, v: unknown) =>
    v instanceof Uint8Array ? `<${v.length} bytes>` : v instanceof Set ? [...v] : v,
  );
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
