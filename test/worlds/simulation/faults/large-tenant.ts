/**
 * A tenant that makes objects as large as an API server stores, in a namespace of its own. The namespace
 * itself is promised little: its objects may be left out, and its endpoints may stand still. Every other
 * namespace is as it would be without it.
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import type { Scheduler } from '#test/worlds/simulation/world/scheduler.ts';
import { ordinaryLimits, type WorldLimits } from './draw-limits.ts';
import type { Profile } from './profile.ts';

export const tenantNamespace = 'large';
export const isOfTenant = (namespace: string | undefined): boolean => namespace === tenantNamespace;
/** etcd takes 1.5 MiB by default. */
const maxBytes = 1_500_000;
const share = 0.05;

/** `calm`: none, unless a mutant asks for it. */
export function drawTenant(seed: number, { limits, ...profile }: Profile, calm: boolean): Partial<Profile> {
  const random = new Random(seed + 0x7e4a);
  if (calm || profile.lies !== 'never' || profile.goesBack !== 'never' || !random.chance(share))
    return { tenant: 'ordinary' };
  return largeTenant(limits, random.between(100_000, 300_000));
}

/** A message has room for the largest object, as it has by the ordinary limits. */
export function largeTenant(limits: WorldLimits, maxBytes: number): Pick<Profile, 'tenant' | 'limits'> {
  const { pageSize, maxWaiting, messageEntries } = limits.relay;
  return {
    tenant: 'large',
    limits: {
      ...limits,
      pods: { ...limits.pods, maxBytes },
      ingest: { ...limits.ingest, memoryAtOnce: ordinaryLimits.ingest.memoryAtOnce, rangeBytes: maxBytes },
      relay: { ...ordinaryLimits.relay, pageSize, maxWaiting, messageEntries },
      queue: ordinaryLimits.queue,
    },
  };
}

export class LargeTenant {
  readonly #store: Store;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  readonly #profile: Profile;
  #made = 0;

  constructor(store: Store, random: Random, scheduler: Scheduler, profile: Profile) {
    this.#store = store;
    this.#random = random;
    this.#scheduler = scheduler;
    this.#profile = profile;
  }

  begin(): void {
    this.#store.create('Namespace', '', { metadata: { name: tenantNamespace } });
    const services = this.#random.pick([3, 3, 20]);
    for (let i = 0; i < services; i++) this.#service(`s${i}`);
    for (let i = 0; i < 6; i++) this.#pod(`p${i}`);
  }

  live(): void {
    for (let i = 0; i < 6; i++)
      this.#scheduler.after(this.#random.between(0, this.#profile.faultsUntilMs - 1), () => this.#change());
  }

  #change(): void {
    const i = this.#random.between(0, 9);
    const kind = this.#random.next();
    if (kind < 0.2) this.#service(`s${i % 3}`);
    else if (kind < 0.4) this.#store.remove('Pod', tenantNamespace, `p${i}`);
    else this.#pod(`p${i}`);
  }

  /** Most of what fits is just below the limits of a projection. */
  #bytes(): number {
    return this.#random.pick([500, 30_000, 60_000, 60_000, 60_000, 250_000, maxBytes]);
  }

  #service(name: string): void {
    const count = Math.floor(this.#bytes() / 120);
    const ports = Array.from({ length: this.#random.chance(0.3) ? count : 1 }, (_, i) => ({
      name: `p${i}`,
      port: i + 1,
      targetPort: i + 1,
      protocol: 'TCP',
    }));
    this.#apply('Service', name, {
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.96.7.7',
        ipFamilies: ['IPv4'],
        selector: { app: 'x' },
        ports,
      },
    });
  }

  #pod(name: string): void {
    const ip = `10.245.0.${++this.#made}`;
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
    this.#apply('Pod', name, {
      spec: { nodeName: 'node-1', containers: [] },
      status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions },
    });
  }

  #apply(kind: 'Service' | 'Pod', name: string, more: object): void {
    const before = this.#store.find(kind, tenantNamespace, name);
    const many = (text: string) =>
      Object.fromEntries(
        Array.from({ length: Math.floor(this.#bytes() / 100) }, (_, i) => [`${text}-${i}`, 'x'.repeat(63)]),
      );
    const [labels, annotations] = [
      { app: 'x', ...many('label') },
      this.#random.chance(0.2) ? many('annotation') : {},
    ];
    const metadata = { ...before?.metadata, name, namespace: tenantNamespace, labels, annotations };
    const object = { apiVersion: 'v1', kind, ...before, ...more, metadata } as RawObject;
    if (JSON.stringify(object).length > maxBytes) return;
    if (before) this.#store.replace(kind, { namespace: tenantNamespace, name }, object);
    else this.#store.create(kind, tenantNamespace, object);
  }
}
