import type { SlicesPlan } from '#shared/controllers/slices/plan.ts';

/** Returns true if the plan has a write, an event or an error. */
export const hasWork = ({ addressTypes, unsupported }: SlicesPlan): boolean =>
  unsupported.length > 0 ||
  addressTypes.some((t) =>
    [t.create, t.update, t.delete, t.events, t.errors].some((list) => list.length > 0),
  );
