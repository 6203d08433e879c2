import { importsManagedBy, labelSliceManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import type { AwsWorld } from './aws-world.ts';
import { percentile } from './percentile.ts';

/**
 * Measures the time from a pod's change until the API server accepts the slice (and the Endpoints) with the
 * change.
 */
export class MeasuredChanges {
  readonly #world: AwsWorld;
  readonly #imported: boolean;
  readonly #pending = new Map<string, { readonly sinceMs: number; readonly isReady: boolean }>();
  readonly latenciesMs: number[] = [];

  /**
   * `imported`: from the change to the slice of the import. Its endpoints name no pod, so they are known by
   * their addresses.
   */
  constructor(world: AwsWorld, imported = false) {
    this.#world = world;
    this.#imported = imported;
    world.store.watch('EndpointSlice', ({ object }) => {
      if (this.#pending.size === 0) return;
      const { metadata, endpoints } = object as unknown as EndpointSlice;
      if (imported !== (metadata.labels?.[labelSliceManagedBy] === importsManagedBy)) return;
      for (const { addresses, targetRef, conditions } of endpoints ?? []) {
        const key = (imported ? addresses[0] : targetRef?.uid) ?? '';
        const pending = this.#pending.get(key);
        if (!pending || (conditions?.ready ?? true) !== pending.isReady) continue;
        this.#pending.delete(key);
        this.latenciesMs.push(world.now - pending.sinceMs);
      }
    });
  }

  expect(uid: string, isReady: boolean): void {
    const pod = this.#imported
      ? this.#world.store.list('Pod').find((p) => p.metadata.uid === uid)
      : undefined;
    this.#pending.set(this.#imported ? String(pod?.status?.['podIP']) : uid, {
      sinceMs: this.#world.now,
      isReady,
    });
  }

  get missing(): number {
    return this.#pending.size;
  }

  summary(): string {
    const sorted = [...this.latenciesMs].sort((a, b) => a - b);
    return [0.5, 0.99, 0.999].map((share) => Math.round(percentile(sorted, share))).join(' / ');
  }
}
