import type { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { assignName } from '#shared/controllers/slices/slice-name.ts';
import { labelServiceName, labelSliceManagedBy } from '#shared/kube/names.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';
import type { ZonalShift } from '#test/worlds/simulation/faults/zones.ts';
import { type Away, mirroredBy, type Plans, recompute } from '#test/worlds/simulation/promises/truth.ts';
import type { Scheduler } from '#test/worlds/simulation/world/scheduler.ts';
import type { Random } from '../random.ts';

const manager = 'kube-controller-manager';
const watched = ['Service', 'Pod', 'Node', 'Endpoints', 'EndpointSlice'] as const;

interface BuiltInOptions {
  readonly profile: Pick<Profile, 'maxEndpointsPerSlice' | 'faultsUntilMs'>;
  readonly shift?: ZonalShift | undefined;
}

export class BuiltInControllers {
  readonly #store: Store;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #maxEndpointsPerSlice: number;
  readonly #awayUntilMs: number;
  readonly #shift: ZonalShift | undefined;
  #isDue = false;

  constructor(store: Store, scheduler: Scheduler, random: Random, { profile, shift }: BuiltInOptions) {
    this.#shift = shift;
    this.#store = store;
    this.#scheduler = scheduler;
    this.#random = random;
    this.#maxEndpointsPerSlice = profile.maxEndpointsPerSlice;
    this.#awayUntilMs = scheduler.now + profile.faultsUntilMs;
  }

  start(): void {
    for (const kind of watched) this.#store.watch(kind, () => this.wake());
    this.#shift?.onEks(this.#scheduler, () => this.wake());
    this.wake();
  }

  /**
   * All services are looked at some time after each change. Now and then the controllers are away, until
   * faults end at the latest.
   */
  wake(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const awayMs = this.#random.chance(0.03) ? this.#random.between(20_000, 60_000) : 0;
    const delayMs =
      Math.min(awayMs, Math.max(0, this.#awayUntilMs - this.#scheduler.now)) + this.#random.between(5, 1_500);
    this.#scheduler.after(delayMs, () => {
      this.#isDue = false;
      const owners = [...this.#store.list('Service'), ...this.#store.list('Endpoints')];
      for (const key of new Set(owners.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`))) {
        const [namespace = '', name = ''] = key.split('/');
        this.#writeEndpoints(namespace, name);
        this.#writeSlices(namespace, name);
        this.#mirror(namespace, name);
      }
    });
  }

  #plans(namespace: string, name: string): Plans {
    const maxEndpointsPerSlice = this.#maxEndpointsPerSlice;
    const away: Away | undefined = this.#shift?.eks(this.#scheduler.now);
    return recompute(this.#store, { namespace, name }, { maxEndpointsPerSlice, away });
  }

  #writeEndpoints(namespace: string, name: string): void {
    const { write } = this.#plans(namespace, name).endpoints;
    if (!write) return;
    this.#try(() => {
      if (write.verb === 'delete') this.#store.remove('Endpoints', namespace, name);
      else if (write.verb === 'create') this.#store.create('Endpoints', namespace, write.object, { manager });
      else this.#store.replace('Endpoints', { namespace, name }, write.object, { manager });
    });
  }

  #writeSlices(namespace: string, name: string): void {
    const { addressTypes, unsupported } = this.#plans(namespace, name).slices;
    const taken = new Set(this.#store.list('EndpointSlice', namespace).map((s) => s.metadata.name));
    for (const t of addressTypes) {
      for (const draft of t.create) {
        const slice = assignName(draft, manager, taken);
        taken.add(slice.metadata.name);
        this.#try(() => this.#store.create('EndpointSlice', namespace, slice, { manager }));
      }
      for (const slice of t.update)
        this.#try(() =>
          this.#store.replace('EndpointSlice', { namespace, name: slice.metadata.name }, slice, { manager }),
        );
      for (const { metadata } of t.delete) this.#store.remove('EndpointSlice', namespace, metadata.name);
    }
    for (const { metadata } of unsupported) this.#store.remove('EndpointSlice', namespace, metadata.name);
  }

  /** Endpoints of a Service without a selector come back as a slice (SL-5, SL-10), which goes with them. */
  #mirror(namespace: string, name: string): void {
    const service = this.#store.find('Service', namespace, name);
    const endpoints = this.#store.find('Endpoints', namespace, name);
    const mirrorName = `${name}-mirror`;
    const addresses = (endpoints?.subsets ?? []).flatMap((s) => s.addresses ?? []);
    const is = this.#store.find('EndpointSlice', namespace, mirrorName);
    if (!service || service.spec?.['selector'] || !endpoints || addresses.length === 0) {
      if (is) this.#store.remove('EndpointSlice', namespace, mirrorName);
      return;
    }
    const shown = addresses.map(({ ip, targetRef }) => ({
      addresses: [ip],
      conditions: { ready: true },
      targetRef,
    }));
    if (
      is &&
      JSON.stringify((is.endpoints ?? []).map((e) => e.addresses[0])) ===
        JSON.stringify(addresses.map((a) => a.ip))
    )
      return;
    const mirror = {
      metadata: {
        name: mirrorName,
        labels: { [labelServiceName]: name, [labelSliceManagedBy]: mirroredBy },
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'Endpoints',
            name,
            uid: endpoints.metadata.uid ?? '',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      addressType: 'IPv4',
      endpoints: shown,
      ports: [],
    };
    this.#store.remove('EndpointSlice', namespace, mirrorName);
    this.#try(() => this.#store.create('EndpointSlice', namespace, mirror, { manager }));
  }

  /** A namespace that ends, or an object that has just changed: the next round sees it. */
  #try(write: () => unknown): void {
    try {
      write();
    } catch (error) {
      if (!(error instanceof ClusterApiError)) throw error;
    }
  }
}
