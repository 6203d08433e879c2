/** Mutants of runs in the invocation that has stored their changes. */
import { withLimits } from '#test/worlds/simulation/faults/profile.ts';
import { silentApiWorld } from '#test/worlds/simulation/faults/silent-api.ts';
import { crashing, type Mutant } from './mutant.ts';

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
