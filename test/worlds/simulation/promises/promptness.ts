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

export class Promptness {
  readonly #parts: Parts;
  /** When the wanted outputs of a service changed last, and what is wanted and not there since then. */
  readonly #due = new Map<string, { readonly at: number; readonly what: string }>();
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
    for (const [service, what] of this.#differences()) {
      if (this.#due.get(service)?.what === what) continue;
      const due = { at: scheduler.now, what };
      this.#due.set(service, due);
      if (scheduler.now + withinMs < this.#endsAt) scheduler.after(withinMs, () => this.#check(service, due));
    }
  }

  #check(service: string, due: { readonly at: number; readonly what: string }): void {
    const { store, scheduler, isRestless, fail } = this.#parts;
    const [namespace = '', name = ''] = service.split('/');
    if (
      this.#due.get(service) !== due ||
      isCulprit(namespace, name) ||
      this.#differences().get(service) !== due.what
    )
      return;
    const found = store.find('Service', namespace, name);
    // Without its node a pod is in no slice, and the run fails until the node or the pod is gone (ES-32).
    if (
      !found ||
      isUpstreamsOwn(store, found, isRestless) ||
      store.list('Pod', namespace).some((p) => isRestless(String(p.spec?.['nodeName'])))
    )
      return;
    fail(
      `not written ${scheduler.now - due.at} ms after its change, though its own calls met no fault: ${due.what}`,
    );
  }
}
