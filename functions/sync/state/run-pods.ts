/** The Pods that a run's Service selects, from a view of its namespace. */
import type { EndpointSlice, Pod } from '#shared/kube/types.ts';
import type { OutputChange, PodsView } from '#shared/pods/view.ts';
import type { SlicesPlan } from '#shared/slices/plan.ts';
import { type RequeueDeps, requeueRun } from './requeue.ts';

export class RunPods {
  readonly #deps: RequeueDeps;
  readonly #view: PodsView;
  readonly #isSelected: (pod: Pod) => boolean;

  constructor(deps: RequeueDeps, view: PodsView, isSelected: (pod: Pod) => boolean) {
    this.#deps = deps;
    this.#view = view;
    this.#isSelected = isSelected;
  }

  /** All Pods of the namespace, as this run knows them by now. */
  get all(): readonly Pod[] {
    return this.#view.all;
  }

  get selected(): readonly Pod[] {
    return this.#view.all.filter(this.#isSelected);
  }

  /** Plans until the view confirms what the plan changes. */
  async plan<P>(planWith: (pods: readonly Pod[]) => P, changeOf: (plan: P) => OutputChange): Promise<P> {
    for (;;) {
      const plan = planWith(this.selected);
      if (await this.confirms(changeOf(plan))) return plan;
    }
  }

  /** Throws RequeueAfter where Pods cannot be read. */
  async confirms(change: OutputChange): Promise<boolean> {
    try {
      return await this.#view.confirms(change);
    } catch (error) {
      throw requeueRun(this.#deps, 'podsUnreadable', { reason: `Pods could not be read: ${String(error)}` });
    }
  }
}

/** `slices`: all before the plan is carried out. */
export function slicesChange(slices: readonly EndpointSlice[], { unsupported, addressTypes }: SlicesPlan): OutputChange {
  const replaced = new Set([...unsupported, ...addressTypes.flatMap((t) => [...t.update, ...t.delete])].map((s) => s.metadata.name));
  return { before: slices.filter((s) => replaced.has(s.metadata.name)), after: addressTypes.flatMap((t) => [...t.update, ...t.create]) };
}
