/**
 * In a world whose faults are those of one service (culprit.ts), each change of any other is written soon,
 * whatever the one is up to.
 */
import type { Store } from '#infra/local/apiserver/store.ts';
import { firstListsMs, isCulprit } from '#test/worlds/simulation/faults/culprit.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';
import type { Scheduler } from '#test/worlds/simulation/world/scheduler.ts';
import { differences, isUpstreamsOwn } from './truth.ts';

/**
 * The message back, after a refusal of the table, comes after five seconds or more; the rest is less than a
 * second.
 */
const promptMs = 10_000;
const afterRefusalsMs = 30_000;

interface Parts {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly profile: Profile;
  readonly isRestless: (node: string) => boolean;
  readonly fail: (what: string) => void;
}

interface Due {
  readonly at: number;
  readonly what: string;
  /** A change may end the excuse and leave the difference as it is: the time runs from then. */
  readonly isExcused: boolean;
}

export class Promptness {
  readonly #parts: Parts;
  /** What is wanted of a service and not there, and since when. */
  readonly #due = new Map<string, Due>();
  readonly #endsAt: number;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { store, scheduler, profile } = parts;
    this.#endsAt = scheduler.now + profile.faultsUntilMs;
    if (profile.culprit === 'none') return;
    scheduler.after(firstListsMs, () => {
      for (const kind of ['Service', 'Pod', 'Node'] as const) store.watch(kind, () => this.#look());
      this.#look();
    });
  }

  #differences(): ReadonlyMap<string, string> {
    const { store, profile } = this.#parts;
    const found = new Map<string, string>();
    for (const { service, text } of differences(store, profile.maxEndpointsPerSlice))
      found.set(service, `${found.get(service) ?? ''} ${text}`);
    return found;
  }

  #look(): void {
    const { scheduler, profile } = this.#parts;
    const withinMs =
      (profile.culprit === 'seldom' ? afterRefusalsMs : promptMs) + profile.delayMs + profile.watchDelayMs;
    const differences = this.#differences();
    for (const service of this.#due.keys()) if (!differences.has(service)) this.#due.delete(service);
    for (const [service, what] of differences) {
      const isExcused = this.#isExcused(service);
      const before = this.#due.get(service);
      if (before?.what === what && before.isExcused === isExcused) continue;
      const due = { at: scheduler.now, what, isExcused };
      this.#due.set(service, due);
      if (!isExcused && scheduler.now + withinMs < this.#endsAt)
        scheduler.after(withinMs, () => this.#check(service, due));
    }
  }

  /** The difference is upstream's own, or the culprit's, or waits for a node. */
  #isExcused(service: string): boolean {
    const { store, isRestless } = this.#parts;
    const [namespace = '', name = ''] = service.split('/');
    const found = store.find('Service', namespace, name);
    // Without its node a pod is in no slice, and the run fails until the node or the pod is gone (ES-32).
    return (
      isCulprit(namespace, name) ||
      !found ||
      isUpstreamsOwn(store, found, isRestless) ||
      store.list('Pod', namespace).some((p) => isRestless(String(p.spec?.['nodeName'])))
    );
  }

  #check(service: string, due: Due): void {
    const { scheduler, fail } = this.#parts;
    if (
      this.#due.get(service) !== due ||
      this.#differences().get(service) !== due.what ||
      this.#isExcused(service)
    )
      return;
    fail(
      `not written ${scheduler.now - due.at} ms after its change, though its own calls met no fault: ${due.what}`,
    );
  }
}
