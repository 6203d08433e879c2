/** The colour of an answer. */
import type { About } from './about.ts';
import type { Reach } from './reach.ts';

export type Health = 'good' | 'warning' | 'bad';

const healths: { readonly [R in Reach]: Health | undefined } = {
  Reachable: 'good',
  PartlyReachable: 'warning',
  Unreachable: 'bad',
  NoEndpointsWanted: undefined,
};

/** Nothing is green while something deserves a look. Undefined: nobody wants it to be reached. */
export function healthOf({ reach, causes }: Pick<About, 'reach' | 'causes'>): Health | undefined {
  if (reach === 'Reachable' && causes.some((c) => c.weight !== 'note')) return 'warning';
  return healths[reach];
}
