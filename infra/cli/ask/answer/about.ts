/** What is said about a Service, by each of the ways that it may have endpoints. */
import type { Cause } from './cause.ts';
import type { Reach } from './reach.ts';
import type { SelectedPod } from './selected-pods.ts';

/** Is what is served what the controllers want? docs/use/why-not-an-endpoint.md explains the values. */
export const currencies = ['UpToDate', 'Differs', 'Waits', 'NothingWanted'] as const;
export type Currency = (typeof currencies)[number];

export interface About {
  readonly reach: Reach;
  readonly currency: Currency;
  /** Whether it can be reached, in some words. */
  readonly reachText: string;
  /** Selected pods that run, and those of them that can be reached. */
  readonly live: number;
  readonly reachable: number;
  /** The worst first. */
  readonly causes: readonly Cause[];
  readonly pods: readonly SelectedPod[];
  /** Names of the pods that can be reached. */
  readonly reachablePods: ReadonlySet<string>;
}

export const noPods = { live: 0, reachable: 0, pods: [], reachablePods: new Set<string>() } as const;

export const reachWords: { readonly [R in Reach]: string } = {
  Reachable: 'Reachable',
  PartlyReachable: 'Partly reachable',
  Unreachable: 'Unreachable',
  NoEndpointsWanted: 'No endpoints wanted',
};
