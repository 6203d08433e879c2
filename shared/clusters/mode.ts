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

/** May what is computed be written? Once a second writer was met it may not, until somebody switches the mode. */
export const mayWrite = ({ mode, circuit }: { readonly mode: Mode; readonly circuit: { readonly reason: string } | undefined }): boolean =>
  mode === 'active' && circuit?.reason !== 'two-writers';
