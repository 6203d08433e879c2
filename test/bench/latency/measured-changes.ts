import type { EndpointSlice } from '#shared/kube/types.ts';
import type { AwsWorld } from './aws-world.ts';
import { percentile } from './percentile.ts';

/** Waits for pods to be shown as they are: from a pod's change to the API server's accepting the slice (and the Endpoints) that says so. */
export class MeasuredChanges {
  readonly #world: AwsWorld;
  readonly #pending = new Map<string, { readonly sinceMs: number; readonly isReady: boolean }>();
  readonly latenciesMs: number[] = [];

  constructor(world: AwsWorld) {
    this.#world = world;
    world.store.watch('EndpointSlice', ({ object }) => {
      if (this.#pending.size === 0) return;
      for (const { targetRef, conditions } of (object as unknown as EndpointSlice).endpoints ?? []) {
        const pending = this.#pending.get(targetRef?.uid ?? '');
        if (!pending || (conditions?.ready ?? true) !== pending.isReady) continue;
        this.#pending.delete(targetRef?.uid ?? '');
        this.latenciesMs.push(world.now - pending.sinceMs);
      }
    });
  }

  expect(uid: string, isReady: boolean): void {
    this.#pending.set(uid, { sinceMs: this.#world.now, isReady });
  }

  get missing(): number {
    return this.#pending.size;
  }

  summary(): string {
    const sorted = [...this.latenciesMs].sort((a, b) => a - b);
    return [0.5, 0.99, 0.999].map((share) => Math.round(percentile(sorted, share))).join(' / ');
  }
}
