import { allKinds, type Kind } from '#shared/kube/types.ts';
import { Condition } from '../runtime/condition.ts';
import type { Accepted } from './lease.ts';

/** The kinds whose accepted versions standbys may read in the Lease, as far as this relay has written it. */
export class Published {
  readonly #changes = new Condition();
  readonly #mayName = new Set<Kind>();

  /** To be called before a write that names these kinds: it may succeed without an answer. */
  writing(accepted: Accepted | undefined): void {
    for (const kind of allKinds) if (accepted?.versions[kind] !== undefined) this.#mayName.add(kind);
  }

  /** A write that names these kinds has succeeded. */
  written(accepted: Accepted | undefined): void {
    for (const kind of allKinds) if (accepted?.versions[kind] === undefined) this.#mayName.delete(kind);
    this.#changes.notifyAll();
  }

  /** Resolves when no standby can read the kind in the Lease. Rejects with the signal's reason. */
  async withdrawn(kind: Kind, signal: AbortSignal): Promise<void> {
    await this.#changes.waitUntil(() => !this.#mayName.has(kind), signal);
  }
}
