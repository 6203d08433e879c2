/** Mutants of runs in the invocation that has stored their changes. */
import type { Change, WriteCondition } from '#shared/store/table.ts';
import { withLimits } from '#test/worlds/simulation/faults/profile.ts';
import { silentApiWorld } from '#test/worlds/simulation/faults/silent-api.ts';
import { crashing, type Mutant } from './mutant.ts';

const isEndOfRun = ({ set }: Change): boolean => set?.['ranAt'] !== undefined;

function withoutLease(condition: WriteCondition | undefined): WriteCondition | undefined {
  if (!condition || 'attribute' in condition) return undefined;
  return 'all' in condition
    ? { all: condition.all.filter((c) => !('attribute' in c) || c.attribute !== 'lease') }
    : condition;
}

export const inPlaceMutants: readonly Mutant[] = [
  {
    name: 'ingest takes a service whose lease another worker has',
    mechanism: 'lease with the new generation',
    profile: { slow: 0.3, changes: 60, pods: 5 },
    table: (table) => ({
      ...table,
      update: (key, change, condition) =>
        table.update(key, change, change.add?.['gen'] && change.set?.['lease'] ? undefined : condition),
    }),
  },
  {
    name: 'a worker without the lease saves what rides on the work item',
    mechanism: 'lease',
    seeds: [84, 184],
    profile: {
      ...crashing,
      crashes: 0,
      pauses: 0.5,
      fateAt: ['api'],
      ...{ namespaces: 1, services: 2, pods: 3, changes: 40, faultsUntilMs: 200_000 },
    },
    table: (table) => ({
      ...table,
      update: (key, change, condition) =>
        table.update(key, change, isEndOfRun(change) ? withoutLease(condition) : condition),
    }),
  },
  {
    name: 'an events message is done before the run that it stands for',
    mechanism: 'lease with the new generation',
    profile: crashing,
    inPlace: (runs) => ({ ...runs, run: async (...call) => void runs.run(...call).catch(() => {}) }),
  },
  {
    name: 'runs in place wait for a silent API server as long as other runs',
    mechanism: 'lease with the new generation',
    profile: {
      ...silentApiWorld(90_000, 1),
      limits: withLimits({
        relay: { heartbeatMs: 5_000 },
        sync: { inPlaceMs: 38_000, briefCallMs: 32_000 },
      }),
    },
  },
];
