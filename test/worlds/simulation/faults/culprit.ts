/**
 * A world whose faults are those of one service, or of single calls of the table, and no others: what they
 * cost all other services is judged by promptness.ts. It is drawn separately, so other worlds keep their
 * seeds.
 */
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ApiKind, ClusterApi } from '#shared/clusters/api/port.ts';
import { labelServiceName } from '#shared/kube/names.ts';
import { parseWorkKey } from '#shared/store/keys.ts';
import { serviceAskedFor } from '#test/worlds/simulation/promises/listed-slices.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import { apiErrors } from './api-errors.ts';
import { ordinaryLimits } from './draw-limits.ts';
import { faultless, type Profile } from './profile.ts';

const kinds = [
  'reads',
  'writes',
  'resets',
  'items',
  'seldom',
] as const satisfies readonly Profile['culprit'][];

export const culpritService = { namespace: 'a', name: 's0' };
export const isCulprit = (namespace: string | undefined, name: string | undefined): boolean =>
  namespace === culpritService.namespace && name === culpritService.name;

const share = 0.06;
/** A first list that lacks an entry holds up the whole cluster, as it has to: the faults begin after them. */
export const firstListsMs = 10_000;

/** `calm`: none, unless a mutant asks for it. */
export function drawCulprit(seed: number, calm: boolean): Partial<Profile> {
  const random = new Random(seed + 0xb1a5);
  if (calm || !random.chance(share)) return { culprit: 'none' };
  return culpritWorld(random.pick(kinds), random.between(60_000, 150_000));
}

export const culpritWorld = (culprit: Profile['culprit'], faultsUntilMs: number): Partial<Profile> => ({
  ...faultless,
  ...{ watchDelayMs: 50, syncReceives: 50 },
  ...{ namespaces: 1, services: 4, pods: 6, changes: 30, faultsUntilMs, limits: ordinaryLimits, culprit },
});

/** The faults themselves. */
export class Culprit {
  readonly #kind: Profile['culprit'];
  readonly #random: Random;
  readonly #isOn: () => boolean;
  readonly #error: ClusterApiError;
  /** Processes that the table has refused a call. */
  readonly #refused = new WeakSet<Actor>();

  constructor(kind: Profile['culprit'], seed: number, isOn: () => boolean) {
    this.#kind = kind;
    this.#random = new Random(seed + 0xb1a6);
    this.#isOn = isOn;
    // Credentials and the rate of requests are the whole cluster's.
    this.#error = this.#random.pick(
      apiErrors.map((make) => make()).filter(({ status }) => status !== 401 && status !== 429),
    );
  }

  /** Does the table refuse this call? */
  refuses(actor: Actor, pk: string): boolean {
    if (!this.#isOn() || actor.lucky) return false;
    if (this.#kind === 'seldom') return this.#refusesOnce(actor);
    if (this.#kind !== 'items' || !/^[^#]+#(WORK|OUT|COUNTS)#/.test(pk)) return false;
    const { namespace, name } = parseWorkKey(pk.replace(/#(OUT|COUNTS)#/, '#WORK#'));
    return isCulprit(namespace, name) && this.#random.chance(0.5);
  }

  /**
   * Single refusals: where the table refuses a run's read and then the end of its lease too, the service waits
   * until the lease ends.
   */
  #refusesOnce(actor: Actor): boolean {
    if (!actor.name.startsWith('sync-') || !this.#random.chance(0.01) || this.#refused.has(actor))
      return false;
    this.#refused.add(actor);
    return true;
  }

  api(api: ClusterApi): ClusterApi {
    if (!['reads', 'writes', 'resets'].includes(this.#kind)) return api;
    const check = (
      does: 'reads' | 'writes',
      kind: ApiKind,
      namespace: string | undefined,
      name: string | undefined,
    ): void => {
      const error = isCulprit(namespace, name) && this.#isOn() ? this.#errorOf(does, kind) : undefined;
      if (error) throw error;
    };
    const nameOf = (kind: ApiKind, { metadata: { name, labels = {} } }: Labelled): string | undefined =>
      kind === 'Endpoints' ? name : kind === 'EndpointSlice' ? labels[labelServiceName] : undefined;
    return {
      ...api,
      get: async (kind, namespace, name) => {
        if (kind === 'Endpoints') check('reads', kind, namespace, name);
        return api.get(kind, namespace, name);
      },
      list: async (kind, namespace, query) => {
        if (kind === 'EndpointSlice') check('reads', kind, namespace, serviceAskedFor(query));
        return api.list(kind, namespace, query);
      },
      create: async (kind, object) => {
        check('writes', kind, object.metadata.namespace, nameOf(kind, object as Labelled));
        return api.create(kind, object);
      },
      replace: async (kind, object) => {
        check('writes', kind, object.metadata.namespace, nameOf(kind, object as Labelled));
        return api.replace(kind, object);
      },
    };
  }

  #errorOf(does: 'reads' | 'writes', kind: ApiKind): ClusterApiError | undefined {
    if (this.#kind === does) return this.#error;
    if (this.#kind !== 'resets') return undefined;
    if (does === 'writes' && kind === 'Endpoints')
      return new ClusterApiError('admission webhook "no" denied the request', {
        status: 403,
        reason: 'Forbidden',
      });
    return this.#random.chance(0.3) ? new ClusterApiError('connection reset', { status: 0 }) : undefined;
  }
}

interface Labelled {
  readonly metadata: { readonly name?: string; readonly labels?: { readonly [key: string]: string } };
}
