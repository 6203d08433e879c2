import { sweep } from '#functions/sweep/sweep.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { Metrics } from '#shared/telemetry/port.ts';
import type { Actor } from './actor.ts';
import type { Processes } from './processes.ts';

/** The runs of sweep, of which there is one for the whole fleet. */
export class Sweeps {
  readonly #processes: Processes;
  readonly #underWay = new Set<Actor>();

  /** `processes`: of any cluster of the fleet; those of the others are found by them. */
  constructor(processes: Processes) {
    this.#processes = processes;
  }

  /** A resync raises generations before it sends the wake-ups: nothing is at rest between the two. */
  get areUnderWay(): boolean {
    return [...this.#underWay].some((actor) => !actor.dead);
  }

  async run(metrics: Metrics = this.#processes.metricsPort): Promise<void> {
    const processes = this.#processes;
    const { zonalShift } = processes.world;
    const actor = processes.actor('sweep', { fate: processes.fate(30) });
    const deps = {
      table: processes.table(actor),
      queues: (id: string) => processes.of(id).clusterQueues(actor),
      cluster: async (meta: ClusterRecord) => processes.of(meta.id).clusterApi(actor, meta),
      metrics,
      log: processes.log(actor),
      now: processes.clock(),
      ...(zonalShift && { zonalShift: async () => zonalShift.answer(processes.world.scheduler.now) }),
      newId: () => processes.newId(actor),
      limits: processes.world.profile.limits,
      flush() {},
    };
    this.#underWay.add(actor);
    await sweep(deps).catch((e: unknown) => {
      actor.trace(`sweep failed: ${String(e)}`);
      actor.hasFailed = true;
    });
    actor.hasReturned = true;
    this.#underWay.delete(actor);
  }
}
