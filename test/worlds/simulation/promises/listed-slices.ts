/** The EndpointSlices that each worker listed from the API server, without later writes of the hub. */
import { labelServiceName, labelSliceManagedBy } from '#shared/kube/names.ts';
import { requirementsOf, type Selector } from '#shared/kube/selectors/label-selector.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import { mirroredBy } from './truth.ts';

interface List {
  readonly at: number;
  readonly slices: readonly EndpointSlice[];
}

export class ListedSlices {
  /** The newest list of each worker, by service. */
  readonly #lists = new WeakMap<Actor, Map<string, List>>();
  /** When the hub wrote each slice last. */
  readonly #writes = new Map<string, number>();
  /** Counts what happens, in order. */
  #at = 0;

  listed(actor: Actor, namespace: string, service: string, slices: readonly EndpointSlice[]): void {
    const lists = this.#lists.get(actor) ?? new Map<string, List>();
    this.#lists.set(actor, lists.set(`${namespace}/${service}`, { at: ++this.#at, slices }));
  }

  written(namespace: string, name: string): void {
    this.#writes.set(`${namespace}/${name}`, ++this.#at);
  }

  /**
   * Does a slice that the worker was listed, and that the hub has not written since, show the pod as ready?
   */
  showReady(actor: Actor, namespace: string, service: string, uid: string): boolean {
    const list = this.#lists.get(actor)?.get(`${namespace}/${service}`);
    return (list?.slices ?? []).some(
      ({ metadata, endpoints }) =>
        (this.#writes.get(`${namespace}/${metadata.name}`) ?? 0) < (list as List).at &&
        // Mirrored slices go when the Endpoints do.
        metadata.labels?.[labelSliceManagedBy] !== mirroredBy &&
        (endpoints ?? []).some((e) => e.targetRef?.uid === uid && e.conditions?.ready !== false),
    );
  }
}

/** The Service whose slices a list asks for. */
export const serviceAskedFor = (query: { readonly labels?: Selector } | undefined): string | undefined =>
  requirementsOf(query?.labels ?? {}).find(({ key }) => key === labelServiceName)?.values[0];
