/** The modes of a cluster, and what they mean for its services. */
import type { Condition } from '#shared/store/table.ts';

/** The last two are of clusters that have left the configuration (removal.ts). */
export type Mode = ChosenMode | 'draining' | 'removed';
export type ChosenMode = 'active' | 'shadow' | 'paused';

export const isMode = (mode: Mode): Condition => ({ attribute: 'mode', is: '=', value: mode });
const isNot = (mode: Mode): Condition => ({
  any: [
    { attribute: 'mode', is: '<', value: mode },
    { attribute: 'mode', is: '>', value: mode },
  ],
});
/** It has not left. */
export const isHere: Condition = { all: [isNot('draining'), isNot('removed')] };

/** It has left the configuration: it has no queues any more, and nothing is woken, compared or written. */
export const hasLeft = ({ mode }: { readonly mode: Mode }): boolean => mode === 'draining' || mode === 'removed';

/** May what is computed be written? Not once a second controller was met, until an operator has switched the mode. */
export const mayWrite = ({ mode, writerConflict }: { readonly mode: Mode; readonly writerConflict: boolean }): boolean =>
  mode === 'active' && !writerConflict;
