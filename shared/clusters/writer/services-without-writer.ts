import { annotationSelector } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import type { RelayState } from '../relay/relay-state.ts';
import { hasRuns } from './mode.ts';
import { type WriterSwitches, writerFor } from './writer-for.ts';

/**
 * Returns the number of Services with slices that no controller follows: they opt in and have no writer, or
 * no longer opt in and still have slices of the hub. Undefined before the relay has counted them. A pause
 * stops the hub's writes on purpose, so a paused cluster has no such Service.
 */
export function servicesWithoutWriter(
  cluster: WriterSwitches & { readonly relay: Pick<RelayState, 'annotated'> },
): number | undefined {
  const { annotated } = cluster.relay;
  if (!annotated) return undefined;
  if (!hasRuns(cluster)) return 0;
  const hasWriter = writerFor(optedIn, cluster, 'slices').writer !== 'nobody';
  return annotated.invalid + (annotated.stray ?? 0) + (hasWriter ? 0 : annotated.valid);
}

/** Stands for each Service with a valid annotation and no selector: they have the same writer. */
const optedIn: Service = {
  metadata: { name: 'opted-in', annotations: { [annotationSelector]: 'app=web' } },
  spec: {},
};
