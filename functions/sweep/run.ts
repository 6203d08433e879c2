import { ClusterApiError } from '#shared/cluster/errors.ts';
import { concurrently } from '#shared/concurrently.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { endOf, type SweepDeps } from './deps.ts';

/** One run of sweep: what failed in it, and how long it may go on. */
export class Run {
  readonly deps: SweepDeps;
  readonly failed: string[] = [];

  constructor(deps: SweepDeps) {
    this.deps = deps;
  }

  /** What fails for one cluster is noted, and the rest goes on. */
  async attempt<T>(cluster: string, step: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const { log } = this.deps;
      // A cluster that can't be asked has alarms of its own.
      if (error instanceof ClusterApiError) log.warn('the cluster could not be asked', { cluster, step, error: error.message });
      else {
        log.error('sweep failed', { cluster, step, error: String(error) });
        this.failed.push(`${step} of ${cluster}`);
      }
      return undefined;
    }
  }

  /** The step on each of the clusters, a few at a time, for `ms` at most. How many it did not come to. */
  async each<C extends { readonly id: string }>(
    step: string,
    clusters: readonly C[],
    work: (cluster: C) => Promise<unknown>,
    { ms = Number.POSITIVE_INFINITY, atOnce = limitsOf(this.deps).sweep.atOnce } = {},
  ): Promise<number> {
    const end = Math.min(endOf(this.deps), this.deps.now() + ms);
    let left = 0;
    await concurrently(atOnce, clusters, async (cluster) => {
      if (this.deps.now() < end) await this.attempt(cluster.id, step, () => work(cluster));
      else left++;
    });
    if (left > 0) this.deps.log.warn('no time left in this run of sweep', { step, clusters: left });
    return left;
  }
}

const goldenRatio = 0.618033988749895;

/**
 * The list from another place on each minute, so that a run which does not come to its end leaves out others than the last one did. However few of
 * them a run reaches, multiples of the golden ratio spread where the runs begin evenly.
 */
export function rotated<T>(list: readonly T[], now: number): readonly T[] {
  const minute = Math.floor(now / 60_000);
  const first = Math.floor(((minute * goldenRatio) % 1) * list.length);
  return [...list.slice(first), ...list.slice(0, first)];
}
