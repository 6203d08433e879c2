import type { Kind, Pod } from '#shared/kube/types.ts';
import { goneState, type PodState, podState, unknownState } from '../delay/pod-state.ts';
import type { KubeObject } from '../source/watch-source.ts';
import { relayKey } from './entries.ts';
import { projectionHash } from './projection-hash.ts';

type HashedKind = 'Pod' | 'Node';

/** Most updates of these kinds change nothing of their projection. */
export const isHashed = (kind: Kind): kind is HashedKind => kind === 'Pod' || kind === 'Node';

export interface SentChange {
  readonly before: PodState;
  readonly after: PodState;
}

/** By object: the hash of the projection that was sent last. */
export class SentHashes {
  readonly #hashes = { Pod: new Map<string, number>(), Node: new Map<string, number>() };

  /** Records what is sent; without a projection the object is gone. Undefined: it was sent before. */
  record(kind: HashedKind, object: KubeObject, projection: string | undefined): SentChange | undefined {
    const key = relayKey(object);
    const sent = this.#hashes[kind].get(key);
    if (projection === undefined) {
      this.forget(kind, key);
      return { before: stateIn(sent), after: goneState };
    }
    const next = hashOf(kind, object, projection);
    if (next === sent) return undefined;
    this.#hashes[kind].set(key, next);
    return { before: stateIn(sent), after: stateIn(next) };
  }

  /**
   * A list beside the watch has this projection. If list and watch differ, either may be ahead. If it is the
   * list, then the watch has missed an event: its next one must not be dropped.
   */
  compare(kind: HashedKind, object: KubeObject, projection: string): void {
    const key = relayKey(object);
    if (this.#hashes[kind].get(key) !== hashOf(kind, object, projection)) this.forget(kind, key);
  }

  forget(kind: HashedKind, key: string): void {
    this.#hashes[kind].delete(key);
  }

  reset(kind: HashedKind): void {
    this.#hashes[kind].clear();
  }
}

/** A pod's hash has its state in the last two bits, which needs no memory. */
const hashOf = (kind: HashedKind, object: KubeObject, projection: string): number =>
  projectionHash(projection) * 4 + (kind === 'Pod' ? podState(object as Pod) : unknownState);
const stateIn = (hashed: number | undefined): PodState =>
  hashed === undefined ? unknownState : ((hashed % 4) as PodState);
