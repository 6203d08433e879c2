/**
 * Processes and what they see of the world: each has ports of its own, with its own faults, and the mutant's
 * between.
 */
import { awsClientConfig } from '#shared/aws-client-config.ts';
import type { ApiKind, ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { fieldManagerOf, labelServiceName } from '#shared/kube/names.ts';
import type { ClusterQueues, MessageQueue } from '#shared/queue/port.ts';
import type { Table } from '#shared/store/table.ts';
import type { Fields, Log, Metrics } from '#shared/telemetry/port.ts';
import { memoryClusterApi } from '#test/support/memory/cluster-memory.ts';
import { maxPauseMs, maxStallMs } from '#test/worlds/simulation/faults/draw-limits.ts';
import { lyingQueue } from '#test/worlds/simulation/faults/lies.ts';
import { readsByDriver } from '#test/worlds/simulation/faults/partial-answers.ts';
import { silentApi } from '#test/worlds/simulation/faults/silent-api.ts';
import type { Mutant } from '#test/worlds/simulation/mutants/mutant.ts';
import { CircuitWatch } from '#test/worlds/simulation/promises/circuit-watch.ts';
import { HeartbeatsWatch } from '#test/worlds/simulation/promises/heartbeats-watch.ts';
import { ReadsWatch } from '#test/worlds/simulation/promises/reads-watch.ts';
import { Actor, type Fate, isWorker, type Surroundings } from './actor.ts';
import { apiPort, type Faults, queuePort, tablePort, within } from './ports.ts';
import { type QueueName, queueNames, type WorldState } from './world-state.ts';

export interface ProcessesOptions {
  readonly faults: Faults;
  readonly surroundings: Surroundings;
  readonly mutant: Mutant | undefined;
  /** Those of another cluster, where there are several. */
  readonly others?: ((id: string) => Processes) | undefined;
}

export class Processes {
  readonly world: WorldState;
  readonly mutant: Mutant | undefined;
  readonly surroundings: Surroundings;
  readonly faults: Faults;
  readonly #others: (id: string) => Processes;
  readonly #circuits: CircuitWatch;
  readonly #silentApi: ReturnType<typeof silentApi>;
  readonly #heartbeats: HeartbeatsWatch;
  readonly #reads: ReadsWatch;
  #ids = 0;

  constructor(world: WorldState, { faults, surroundings, mutant, others }: ProcessesOptions) {
    this.world = world;
    this.faults = faults;
    this.surroundings = surroundings;
    this.mutant = mutant;
    this.#others = others ?? (() => this);
    this.#circuits = new CircuitWatch((what) => world.fail(what));
    const { scheduler, random, profile, cluster } = world;
    this.#silentApi = silentApi(profile.silentApiMs, { scheduler, random, startAt: scheduler.now });
    this.#heartbeats = new HeartbeatsWatch({
      ...{ table: world.table, cluster, scheduler, delayMs: profile.delayMs },
      isOver: () => world.isOver,
      fail: (what) => world.fail(what),
    });
    this.#reads = new ReadsWatch(world.table, world.profile, (what) => world.fail(what));
  }

  actor(role: string, options: ConstructorParameters<typeof Actor>[2] = {}): Actor {
    return new Actor(`${role}-${this.#name(++this.#ids)}`, this.surroundings, options);
  }

  of(id: string): Processes {
    return id === this.world.cluster ? this : this.#others(id);
  }

  /** Returns the name of a process. Each cluster counts its own processes. */
  #name(id: number): string {
    return this.world.profile.clusters > 1 ? `${this.world.cluster}${id}` : String(id);
  }

  /** Returns a unique id that names its process. */
  newId(actor: Actor): string {
    return `${actor.name}/${this.#name(++this.#ids)}`;
  }

  /** The clock of a new process. */
  clock(): () => number {
    const { random, profile, scheduler } = this.world;
    const skewMs =
      profile.clocks.hubSkewMs > 0 ? random.between(-profile.clocks.hubSkewMs, profile.clocks.hubSkewMs) : 0;
    return () => scheduler.now + skewMs;
  }

  fate(calls: number): Fate | undefined {
    if (this.world.isOver) return undefined;
    const { random, profile } = this.world;
    const chance = random.next();
    const { crashes, pauses, stalls, hangs } = profile;
    const what =
      chance < crashes
        ? 'crash'
        : chance < crashes + pauses
          ? 'pause'
          : chance < crashes + pauses + stalls
            ? 'stall'
            : undefined;
    if (!what) return random.chance(hangs) ? this.#hang() : undefined;
    const drawn = what === 'stall' ? random.between(1_000, maxStallMs) : random.between(40_000, maxPauseMs);
    const pauseMs = Math.max(1, Math.min(drawn, this.world.faultsEnd - this.world.scheduler.now));
    const on = random.pick(profile.fateAt);
    const most = { any: calls, read: calls, put: 6, update: 6, delete: 2, send: 2, api: 4 }[on];
    return { on, atCall: random.between(1, most), what, pauseMs, reaches: random.chance(0.5) };
  }

  #hang(): Fate {
    const { random } = this.world;
    const on = random.pick(['read', 'put', 'update', 'send'] as const);
    const pauseMs = this.mutant?.silentMs ?? awsClientConfig.requestHandler.requestTimeout;
    return {
      on,
      atCall: random.between(1, on === 'read' ? 12 : 3),
      what: 'hang',
      pauseMs,
      reaches: random.chance(0.5),
    };
  }

  table(actor: Actor): Table {
    const single = tablePort(
      actor,
      this.#circuits.table(actor, this.world.monitor.witness(actor, this.world.table)),
      this.faults,
    );
    const port = readsByDriver(actor, single, this.world.profile, this.mutant?.client);
    const mutated = this.mutant?.table?.(port, actor, this.world) ?? port;
    return this.#reads.table(actor, mutated);
  }

  queue(actor: Actor, name: QueueName): MessageQueue {
    const port = queuePort(actor, this.world.queues[name], this.faults);
    const mutated = this.mutant?.queue?.(port, name, actor, this.world) ?? port;
    const { profile, random } = this.world;
    if (name === 'events' && profile.silentApiMs > 0 && actor.name.startsWith('relay'))
      return {
        send: async (messages) => {
          await mutated.send(messages);
          this.#heartbeats.sent(messages.map(({ body }) => body));
        },
      };
    if (name === 'events' && actor.name.startsWith('relay') && this.world.hostileRelay)
      return this.world.hostileRelay.queue(mutated, () => this.world.isOver);
    if (name === 'events' && actor.name.startsWith('relay'))
      return lyingQueue(mutated, profile.lies, () => !this.world.isOver && random.chance(0.4));
    if (name !== 'syncs' || !isWorker(actor)) return mutated;
    return {
      send: (messages) => {
        this.world.monitor.sends?.(actor, messages);
        for (const { delaySeconds = 0 } of messages) {
          if (delaySeconds > 2)
            this.world.prescribedUntil = Math.max(
              this.world.prescribedUntil,
              this.world.scheduler.now + delaySeconds * 1000,
            );
        }
        return mutated.send(messages);
      },
    };
  }

  clusterQueues(actor: Actor): ClusterQueues {
    const [events, syncs, parked, quarantine] = queueNames.map((name) => this.queue(actor, name)) as [
      MessageQueue,
      MessageQueue,
      MessageQueue,
      MessageQueue,
    ];
    return { events, syncs, parked, quarantine };
  }

  /** `timeoutMs`: of each call, at its begin. */
  clusterApi(actor: Actor, { writer }: Pick<ClusterRecord, 'writer'>, timeoutMs?: () => number): ClusterApi {
    const api = memoryClusterApi(this.world.store, { fieldManager: fieldManagerOf(writer) });
    const serviceOf = (kind: string, ns: string, name: string): string =>
      kind === 'Endpoints'
        ? name
        : (this.world.store.find(kind as ApiKind, ns, name)?.metadata.labels?.[labelServiceName] ?? '');
    const port = apiPort(
      actor,
      this.world.writerLimits.hold(
        actor,
        this.world.monitor.witnessApi(actor, this.faults.culprit?.api(api) ?? api, this.world.cluster),
      ),
      this.faults,
      { writing: this.world.monitor.writing, serviceOf },
    );
    // An answer after the time-out is none.
    const held = this.#silentApi(port);
    const watched = this.#circuits.api(actor, timeoutMs ? within(held, actor, timeoutMs) : held);
    return this.mutant?.api?.(watched, actor, this.world) ?? watched;
  }

  readonly metricsPort: Metrics = {
    put: (name, value) => void this.world.metrics.set(name, (this.world.metrics.get(name) ?? 0) + value),
  };

  log(actor: Actor): Log {
    const at =
      (level: string) =>
      (message: string, fields: Fields = {}): void => {
        actor.trace(`${level}: ${message} ${this.surroundings.trace ? JSON.stringify(fields) : ''}`);
        if (message === 'sweep enqueues the services' || message === 'run failed unexpectedly')
          actor.hasFailed = true;
        if (
          message === 'run failed unexpectedly' &&
          !/Provisioned|lost|did not answer/.test(String(fields['error']))
        )
          this.world.fail(`${message}: ${String(fields['error'])}`);
      };
    const log: Log = { info: at('info'), warn: at('warn'), error: at('error'), with: () => log };
    return log;
  }
}
