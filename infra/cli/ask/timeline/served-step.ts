/** Whether slices list the pod as ready, and when they were last written. */
import { isServedReady } from '#infra/cli/ask/answer/reach.ts';
import { managerOf } from '#infra/cli/ask/answer/served-objects.ts';
import { lastContentWrite } from '#shared/kube/field-managers.ts';
import { annotationTriggerTime } from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { done, type Step, waits } from './timeline.ts';

/** Since `readyAtMs` the pod is ready: an older write of a slice may have listed an earlier pod of that name. */
export function servedStep(slices: readonly EndpointSlice[], pod: string, readyAtMs = 0): Step {
  const listing = slices.filter((slice) =>
    (slice.endpoints ?? []).some((e) => e.targetRef?.name === pod && isServedReady(e)),
  );
  const isListed = slices.some(({ endpoints }) => (endpoints ?? []).some((e) => e.targetRef?.name === pod));
  if (listing.length === 0)
    return waits('Served', isListed ? 'slices list it as not ready' : 'no slice of the Service lists it');
  const writes = listing.flatMap((slice) => {
    const write = lastContentWrite(slice);
    return write ? [{ slice, atMs: write.atMs }] : [];
  });
  // A slice may have been written again since, for another pod: its time then is none of this pod's.
  const first = writes
    .filter(({ slice, atMs }) => atMs + 1_000 > readyAtMs && isWrittenFor(slice, readyAtMs))
    .sort((a, b) => a.atMs - b.atMs)[0];
  const names = listing.map(({ metadata }) => metadata.name).join(', ');
  const by = managerOf(listing[0] as EndpointSlice);
  if (first) return done('Served', `${names} of ${by} had it`, first.atMs);
  return done('Served', `${names} of ${by} has it; a later write hides since when`);
}

/** The newest change that the slice's last write was for is this pod's, in whole seconds. */
function isWrittenFor({ metadata }: EndpointSlice, readyAtMs: number): boolean {
  const trigger = metadata.annotations?.[annotationTriggerTime];
  return trigger !== undefined && Math.abs(Date.parse(trigger) - readyAtMs) < 1_000;
}
