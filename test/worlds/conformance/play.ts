import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ApiKind, ClusterApi } from '#shared/clusters/api/port.ts';
import { HubWorld, type HubWorldOptions } from '#test/support/hub-world.ts';
import { compareEvents, compareStep, type Difference } from './compare.ts';
import type { Fault, Vector } from './vector.ts';

const stepMs = 8_000;
const faultStepMs = 40 * 60_000;
const resourceOf: { readonly [K in ApiKind]?: Fault['resource'] } = {
  Endpoints: 'endpoints',
  EndpointSlice: 'endpointslices',
};

/** The hub writes everything, or beside the controllers of the cluster what opts in. */
export type Switches = Pick<HubWorldOptions, 'mode' | 'optIn'>;
export const besideBuiltIn: Switches = { mode: 'shadow', optIn: 'active' };

/** Plays a vector through the real ingest and sync, and returns the differences. */
export async function play(vector: Vector, switches: Switches = {}): Promise<Difference[]> {
  const startAt = Date.parse('2026-01-02T00:00:00Z');
  const perStep = vector.faults?.length ? faultStepMs : stepMs;
  let writes: { [resource: string]: { [verb: string]: number } } = {};
  let world: HubWorld | undefined;

  const call = async <T>(verb: Fault['verb'], kind: ApiKind, run: () => Promise<T>): Promise<T> => {
    const resource = resourceOf[kind];
    const now = world?.now ?? startAt;
    const fault = vector.faults?.find((f) => {
      const from = startAt + f.step * perStep;
      return f.verb === verb && f.resource === resource && now >= from && now < from + f.forSeconds * 1000;
    });
    if (fault) {
      throw new ClusterApiError(`injected ${fault.reason}`, {
        status: fault.code,
        reason: fault.reason,
        causes: fault.cause ? [fault.cause] : [],
      });
    }
    const result = await run();
    if (resource) {
      writes[resource] ??= {};
      const counts = writes[resource] as { [verb: string]: number };
      counts[verb] = (counts[verb] ?? 0) + 1;
    }
    return result;
  };
  const api = (inner: ClusterApi): ClusterApi => ({
    ...inner,
    create: (kind, object) => call('create', kind, () => inner.create(kind, object)),
    replace: (kind, object) => call('update', kind, () => inner.replace(kind, object)),
    delete: (kind, ...rest) => call('delete', kind, () => inner.delete(kind, ...rest)),
  });

  world = await HubWorld.start({
    given: vector.given,
    startAt,
    settings: {
      maxEndpointsPerSlice: vector.config.maxEndpointsPerSlice,
      batchPeriodSeconds: vector.config.endpointUpdatesBatchPeriodSeconds,
    },
    api,
    ...switches,
  });
  const differences: Difference[] = [];
  for (const [i, step] of vector.steps.entries()) {
    writes = {};
    for (const object of step.apply ?? []) world.store.apply(object);
    for (const { kind, namespace = '', name } of step.delete ?? [])
      world.store.remove(kind as never, namespace, name);
    await world.runUntil(startAt + (i + 1) * perStep);
    differences.push(...compareStep(vector, i, { store: world.store, writes }));
  }
  return [...differences, ...compareEvents(vector, world.store)];
}
