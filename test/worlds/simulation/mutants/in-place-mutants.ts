/** Mutants of runs in the invocation that has stored their changes. */
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
];
