/**
 * The run guard (reference/parity.md D30): a run that would leave fewer than half of ten or more endpoints first
 * asks the API server for the pods. The list guard, which holds back a list that takes much away, is
 * `awaitsOwnList` in functions/ingest/inputs/input-list-page.ts.
 */
import type { Pod } from '#shared/kube/types.ts';
import type { SyncDeps } from '../state/deps.ts';

export interface Removal {
  /** The cluster of the pods. */
  readonly cluster: string;
  /**
   * Endpoints before the plan, which was made by the snapshot: by the uid of the pod, or by address. A family
   * and a space may precede it. Then each family counts by itself: clients of one family cannot use the
   * other.
   */
  readonly before: readonly string[];
  /** Endpoints once the plan is carried out. */
  readonly left: readonly string[];
  /** The same for a plan by other pods. */
  readonly leftBy: (pods: readonly Pod[]) => readonly string[];
  /**
   * The run comes once more. Then the guard asks whenever an endpoint would go: the run before may have ended
   * because the snapshot was wrong, and have left fewer than ten.
   */
  readonly isAgain: boolean;
  /** Pods as their cluster lists them now; undefined if it cannot be asked. */
  readonly ask: () => Promise<readonly Pod[] | undefined>;
}

export type RemovalVerdict =
  /** The plan removes little, or the cluster agrees. */
  | { readonly kind: 'goes-on' }
  /**
   * More endpoints stay by the pods of the cluster: the snapshot lacks these pods, or has them in another
   * state.
   */
  | { readonly kind: 'differs'; readonly pods: readonly Pod[]; readonly missed: number }
  | { readonly kind: 'not-answered' };

export async function guardRemoval(
  deps: Pick<SyncDeps, 'metrics' | 'limits'>,
  removal: Removal,
): Promise<RemovalVerdict> {
  const { cluster, before, left, leftBy, isAgain } = removal;
  const { massRemovalMinEndpoints, massRemovalKeepRatio } = deps.limits.sync;
  const [now, then] = [byFamily(before), byFamily(left)];
  const isMass = Object.entries(now).some(
    ([family, { length }]) =>
      length >= massRemovalMinEndpoints && (then[family]?.length ?? 0) < length * massRemovalKeepRatio,
  );
  if (!isMass && !isAgain) return goesOn;
  const stay = new Set(left);
  const lost = new Set(before.filter((endpoint) => !stay.has(endpoint)));
  if (!isMass && lost.size === 0) return goesOn;
  if (isMass) deps.metrics.put('GuardedRemovals', 1, { cluster });
  const pods = await removal.ask();
  if (!pods) return { kind: 'not-answered' };
  const missed = new Set(
    leftBy(pods).filter((endpoint) => (isMass ? !stay.has(endpoint) : lost.has(endpoint))),
  ).size;
  if (missed === 0) return goesOn;
  deps.metrics.put('Drift', missed, { cluster });
  return { kind: 'differs', pods, missed };
}

const byFamily = (endpoints: readonly string[]): { readonly [family: string]: readonly string[] } =>
  Object.groupBy(endpoints, (endpoint) => endpoint.slice(0, Math.max(0, endpoint.indexOf(' ')))) as {
    [family: string]: string[];
  };

const goesOn = { kind: 'goes-on' } as const;
