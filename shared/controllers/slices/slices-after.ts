import type { EndpointSlice } from '#shared/kube/types.ts';
import type { SliceDraft, SlicesPlan } from './plan.ts';

/** The slices of a service once the plan is carried out. `slices`: all of them before. */
export function slicesAfter(
  slices: readonly EndpointSlice[],
  { addressTypes, unsupported }: Pick<SlicesPlan, 'addressTypes' | 'unsupported'>,
): readonly SliceDraft[] {
  const updates = addressTypes.flatMap((t) => t.update);
  const gone = new Set(
    [...unsupported, ...updates, ...addressTypes.flatMap((t) => t.delete)].map((s) => s.metadata.name),
  );
  return [
    ...slices.filter((s) => !gone.has(s.metadata.name)),
    ...updates,
    ...addressTypes.flatMap((t) => t.create),
  ];
}
