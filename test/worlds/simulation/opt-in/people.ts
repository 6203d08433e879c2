/** People who move Services from one writer to the other, and make mistakes on the way (docs/use/opt-in.md). */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { copyJson } from '#infra/local/apiserver/copy.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import { annotationSelector, labelServiceName } from '#shared/kube/names.ts';
import { requirementsOf } from '#shared/kube/selectors/label-selector.ts';
import { isLiedTo, type Profile } from '../faults/profile.ts';
import type { Random } from '../random.ts';
import type { LivingCluster } from '../world/life.ts';
import type { Scheduler } from '../world/scheduler.ts';

const apps = ['x', 'y', 'z'] as const;
/** An empty annotation is none: it ends the opt-in. */
const mistakes = ['app in (x', '', 'app=x=y', '-app=x'] as const;

export class People {
  readonly #store: Store;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  readonly #profile: Profile;
  readonly #tell: (what: string) => void;
  #hands = 0;

  constructor({ store, random, scheduler, profile, tell }: LivingCluster) {
    this.#store = store;
    this.#random = random;
    this.#scheduler = scheduler;
    this.#profile = profile;
    this.#tell = tell;
  }

  /**
   * Some Services have opted in before, and of some of these what the built-in controllers made is still
   * there.
   */
  begin(): void {
    for (const service of this.#store.list('Service')) {
      if (!isLiedTo(this.#profile) && this.#random.chance(0.5)) continue;
      this.#optIn(service);
      if (isLiedTo(this.#profile) || this.#random.chance(0.5)) continue;
      const { namespace = '', name } = service.metadata;
      this.#store.remove('Endpoints', namespace, name);
      for (const slice of this.#store.list('EndpointSlice', namespace))
        if (slice.metadata.labels?.[labelServiceName] === name)
          this.#store.remove('EndpointSlice', namespace, slice.metadata.name);
    }
  }

  live(): void {
    const until = this.#scheduler.now + this.#profile.faultsUntilMs;
    for (let i = 0; i < this.#profile.optInChanges; i++)
      this.#scheduler.at(until - this.#random.between(0, this.#profile.faultsUntilMs), () => this.#change());
  }

  #change(): void {
    const services = this.#store.list('Service');
    if (services.length === 0) return;
    const service = this.#random.pick(services);
    const writer = writerOf(service);
    const kind = this.#random.next();
    try {
      if (kind < 0.08) this.#makeSlice(service);
      else if (service.spec?.['type'] === 'ExternalName')
        this.#edit(service, 'is no ExternalName any more', (s) => {
          s.spec = { ...s.spec, type: 'ClusterIP' };
        });
      else if (kind < 0.14) this.#becomeExternal(service);
      else if (writer.by === 'built-in')
        kind < 0.6
          ? this.#optIn(service)
          : this.#annotate(service, kind < 0.75 ? this.#mistake() : `app=${this.#random.pick(apps)}`);
      else if (kind < 0.5) this.#select(service);
      else if (kind < 0.65) this.#optOut(service);
      else if (kind < 0.8) this.#annotate(service, this.#mistake());
      else this.#annotate(service, ` app in (${this.#random.pick(apps)}, zz) , !absent`);
    } catch (error) {
      if (!(error instanceof ClusterApiError)) throw error;
    }
  }

  #mistake(): string {
    return this.#random.pick(mistakes);
  }

  /** By the pods that it has, or by others at the same time. */
  #optIn(service: RawObject): void {
    const { app = 'x' } = (service.spec?.['selector'] ?? {}) as { readonly app?: string };
    const chosen = isLiedTo(this.#profile) || this.#random.chance(0.8) ? app : this.#random.pick(apps);
    this.#edit(service, `opts in with app=${chosen}`, (s) => {
      delete s.spec?.['selector'];
      s.metadata.annotations = { ...s.metadata.annotations, [annotationSelector]: `app=${chosen}` };
    });
  }

  #optOut(service: RawObject): void {
    this.#edit(
      service,
      'loses its annotation',
      (s) => void delete s.metadata.annotations?.[annotationSelector],
    );
  }

  #annotate(service: RawObject, text: string): void {
    this.#edit(service, `has the annotation ${JSON.stringify(text)}`, (s) => {
      s.metadata.annotations = { ...s.metadata.annotations, [annotationSelector]: text };
    });
  }

  #select(service: RawObject): void {
    const writer = writerOf(service);
    const app =
      writer.by === 'opt-in' && this.#random.chance(0.7)
        ? requirementsOf(writer.selector).find(({ key }) => key === 'app')?.values[0]
        : this.#random.pick(apps);
    const isKept = this.#random.chance(0.5);
    this.#edit(service, `selects ${app} itself${isKept ? '' : ', and loses its annotation'}`, (s) => {
      s.spec = { ...s.spec, selector: { app } };
      if (!isKept) delete s.metadata.annotations?.[annotationSelector];
    });
  }

  #becomeExternal(service: RawObject): void {
    this.#edit(service, 'is an ExternalName', (s) => {
      s.spec = { ...s.spec, type: 'ExternalName', externalName: 'example.org' };
    });
  }

  /** A slice that is neither ours nor theirs: it is to stay as it is. */
  #makeSlice({ metadata: { namespace = '', name } }: RawObject): void {
    const slice = `${name}-by-hand-${++this.#hands}`;
    this.#tell(`a person makes slice ${namespace}/${slice}`);
    this.#store.create('EndpointSlice', namespace, {
      metadata: { name: slice, labels: { [labelServiceName]: name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.1'] }],
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    });
  }

  #edit(
    { metadata: { namespace = '', name } }: RawObject,
    what: string,
    change: (service: RawObject) => void,
  ): void {
    const next = copyJson(this.#store.get('Service', namespace, name));
    change(next);
    this.#tell(`service ${namespace}/${name} ${what}`);
    this.#store.apply(next);
  }
}
