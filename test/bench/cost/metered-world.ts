import type { ClusterSettings } from '#shared/contract/cluster-settings.ts';
import { emfMetrics } from '#shared/telemetry/emf.ts';
import { jsonLog } from '#shared/telemetry/log.ts';
import { HubWorld } from '#test/support/hub-world.ts';
import { type BatchKind, batchKind } from '../batch-kind.ts';
import { type ClusterSize, clusterObjects } from './cluster-objects.ts';
import { lambda, logLineBytes, price } from './prices.ts';

/** Counts of the billed operations of AWS. */
export interface Usage {
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly queueRequests: number;
  readonly lambdaDollars: number;
  readonly logBytes: number;
  /** Objects that the relay forwarded. */
  readonly events: number;
}

const startAt = Date.parse('2026-01-02T00:00:00Z');

/**
 * One cluster and its hub in virtual time, over a table, queues and logs in memory that count as AWS bills.
 */
export class MeteredWorld {
  readonly world: HubWorld;
  onBatch: (stage: 'ingest' | 'sync') => void = () => {};
  #counts;

  private constructor(world: HubWorld, counts: Counts) {
    this.world = world;
    this.#counts = counts;
  }

  /** A cluster whose first lists are applied and whose endpoints are written. */
  static async start(size: ClusterSize, settings: Partial<ClusterSettings> = {}): Promise<MeteredWorld> {
    const counts = new Counts();
    let metered: MeteredWorld | undefined;
    const write = (line: string): void => {
      counts.logBytes += Buffer.byteLength(line) + logLineBytes;
    };
    const metrics = emfMetrics(write, () => startAt, 'FleetEndpoints/Production', 'few');
    const world = await HubWorld.start({
      given: clusterObjects(size),
      startAt,
      settings,
      metrics,
      flush: metrics.flush,
      clusterMetrics: 'few',
      gathers: true,
      log: jsonLog(write, () => startAt, { stage: 'ingest' }),
      onSend: () => counts.sends++,
      onBatch(stage, bodies) {
        // The metrics of the batch before this one: a function flushes at the end of each invocation.
        metrics.flush();
        const counted = counts.batches[batchKind(stage, bodies)];
        counted.batches++;
        counted.messages += bodies.length;
        metered?.onBatch(stage);
      },
    });
    metered = new MeteredWorld(world, counts);
    await world.runUntil(startAt + 5 * 60_000);
    return metered;
  }

  /** Resolves to the usage until `run` has ended. */
  async usageOf(run: (world: HubWorld) => Promise<void>): Promise<Usage> {
    const { world } = this;
    const events = world.metrics.get('EventsIn') ?? 0;
    world.table.resetUnits();
    this.#counts.reset();
    await run(world);
    const { read, write } = world.table.units;
    const { batches, sends, logBytes } = this.#counts;
    const stages = Object.entries(batches) as [BatchKind, { batches: number; messages: number }][];
    return {
      writeUnits: write,
      readUnits: read,
      // Messages of a batch are received and deleted by one request each.
      queueRequests: sends + stages.reduce((sum, [, q]) => sum + 2 * q.batches, 0),
      lambdaDollars: stages.reduce((sum, [stage, { batches: count, messages }]) => {
        const { batchMs, moreMs, gb } = lambda[stage];
        return (
          sum +
          ((count * batchMs + (messages - count) * moreMs) / 1000) * gb * price.lambdaGbSecond +
          count * price.lambdaRequest
        );
      }, 0),
      logBytes,
      events: (world.metrics.get('EventsIn') ?? 0) - events,
    };
  }
}

class Counts {
  readonly batches: { [K in BatchKind]: { batches: number; messages: number } } = {
    ingest: { batches: 0, messages: 0 },
    beside: { batches: 0, messages: 0 },
    service: { batches: 0, messages: 0 },
    export: { batches: 0, messages: 0 },
    import: { batches: 0, messages: 0 },
  };
  /** Number of requests, each with up to ten messages. */
  sends = 0;
  logBytes = 0;

  reset(): void {
    for (const stage of Object.values(this.batches)) Object.assign(stage, { batches: 0, messages: 0 });
    this.sends = 0;
    this.logBytes = 0;
  }
}

export const dollarsOf = (u: Usage): { readonly [what: string]: number } => ({
  'table writes': u.writeUnits * price.writeUnit,
  'table reads': u.readUnits * price.readUnit,
  queues: u.queueRequests * price.queueRequest,
  Lambda: u.lambdaDollars,
  logs: (u.logBytes / 1e9) * price.logGb,
});

export const total = (u: Usage): number => Object.values(dollarsOf(u)).reduce((a, b) => a + b, 0);
