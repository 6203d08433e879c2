/** The modes of a cluster, and what they mean for its services. */
import type { OptIn } from '#shared/opt-in/writer.ts';
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
export const isRegistered: Condition = { all: [isNot('draining'), isNot('removed')] };

export interface Switches {
  readonly mode: Mode;
  readonly optIn: OptIn;
}

/** Does the hub write the endpoints of Services that opt in? A pause stops these too. */
export const writesOptIn = ({ mode, optIn }: Switches): boolean => optIn === 'active' && (mode === 'active' || mode === 'shadow');

/** Does the hub write anything at all to the cluster? */
export const writesAnything = (switches: Switches): boolean => switches.mode === 'active' || writesOptIn(switches);
export const isWrittenTo: Condition = {
  any: [isMode('active'), { all: [isMode('shadow'), { attribute: 'optIn', is: '=', value: 'active' }] }],
};

/**
 * Does the snapshot decide about traffic? Then the word of one relay is not enough for a list that takes much away, nor for another cluster or history.
 * In shadow mode without opt-in nothing depends on the snapshot, and it follows the relay without delay.
 */
export const isStrict = ({ mode, optIn }: Switches): boolean => mode !== 'shadow' || optIn === 'active';

/** It has left the configuration: it has no queues any more, and nothing is woken, compared or written. */
export const isDeregistered = ({ mode }: { readonly mode: Mode }): boolean => mode === 'draining' || mode === 'removed';

/** May what is computed be written? Not once a second controller was met, until an operator has switched the mode. */
export const mayWrite = ({ mode, writerConflict }: { readonly mode: Mode; readonly writerConflict: boolean }): boolean =>
  mode === 'active' && !writerConflict;
