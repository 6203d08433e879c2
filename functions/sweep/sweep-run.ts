import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { concurrently } from '#shared/concurrently.ts';
import { endAtMs, type SweepDeps } from './sweep-deps.ts';

/** Number of clusters that one step handles concurrently. */
export const clustersAtOnce = 8;

/** Time of a run for asking clusters whether they are the ones that the hub knows, ms. */
export const askMs = 15_000;

/** One run of sweep: its failed steps, and its time limit. */
export class SweepRun {
  readonly deps: SweepDeps;
  readonly failed: string[] = [];

  constructor(deps: SweepDeps) {
    this.deps = deps;
  }

  /** A failure for one cluster is recorded, and the run goes on. */
  async attempt<T>(cluster: string, step: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const { log } = this.deps;
      // A cluster that does not answer has alarms of its own.
      if (error instanceof ClusterApiError)
        log.warn('cluster does not answer sweep', { cluster, step, error: error.message });
      else {
        log.error('sweep failed', { cluster, step, error: String(error) });
        this.failed.push(`${step} of ${cluster}`);
      }
      return undefined;
    }
  }

  /**
   * Runs the step for each cluster, a few at a time, for `ms` at most. Resolves to the number of clusters it
   * had no time for.
   */
  async each<C extends { readonly id: string }>(
    step: string,
    clusters: readonly C[],
    work: (cluster: C) => Promise<unknown>,
    { ms = Number.POSITIVE_INFINITY, atOnce = clustersAtOnce } = {},
  ): Promise<number> {
    const untilMs = Math.min(endAtMs(this.deps), this.deps.now() + ms);
    let skipped = 0;
    await concurrently(atOnce, clusters, async (cluster) => {
      if (this.deps.now() < untilMs) await this.attempt(cluster.id, step, () => work(cluster));
      else skipped++;
    });
    if (skipped > 0) this.deps.log.warn('no time left in this run of sweep', { step, clusters: skipped });
    return skipped;
  }
}

const goldenRatio = 0.618033988749895;

/**
 * Rotates the list by another amount each minute, so that a run without time for all clusters skips other
 * clusters than the run before. Multiples of the golden ratio spread the starting points evenly, however few
 * clusters a run reaches.
 */
export function rotated<T>(list: readonly T[], nowMs: number): readonly T[] {
  const minute = Math.floor(nowMs / 60_000);
  const first = Math.floor(((minute * goldenRatio) % 1) * list.length);
  return [...list.slice(first), ...list.slice(0, first)];
}
