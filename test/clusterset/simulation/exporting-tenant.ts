/**
 * A tenant of one cluster that exports what an API server stores at most, from a namespace of its own: many
 * names, and large texts of annotations, ports and labels. Every other namespace and cluster is as it would
 * be without it.
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { annotationClusterset } from '#shared/kube/names.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { setKey } from '#shared/store/keys.ts';
import { tenantNamespace } from '#test/worlds/simulation/faults/large-tenant.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import { maxExports } from './draw.ts';
import type { SetMember, SetState } from './set-state.ts';

/** etcd takes 1.5 MiB by default. */
const maxBytes = 1_500_000;
/** More than a namespace may export in these worlds. The last name is as long as a name may be. */
const names = [...Array.from({ length: 11 }, (_, i) => `s${i}`), 's'.repeat(63)];
/** Runs at the same time do not see each other's entries; without a limit there would be all names. */
const maxNames = 3 * maxExports;
const changes = 40;

/** The largest item of one export in the set: its text has at most 32 KiB. */
const maxItemBytes = 40_000;

/** Returns what the tenant has in the set above its bounds. */
export async function tenantErrors({ table, set }: SetState): Promise<readonly string[]> {
  if (!set.tenant) return [];
  const items = (await table.items()).filter(
    (item) => item.pk === setKey('default', tenantNamespace, '', '').pk && item.sk.includes('#E#'),
  );
  return [
    ...(items.length > maxNames
      ? [`a tenant has ${items.length} names in the set, and ${maxExports} are its limit`]
      : []),
    ...items.flatMap((item) =>
      itemSize(item) > maxItemBytes ? [`a tenant's export takes ${itemSize(item)} bytes of the set`] : [],
    ),
  ];
}

export class ExportingTenant {
  readonly #world: SetState;
  readonly #member: SetMember;
  readonly #random: Random;

  constructor(world: SetState, member: SetMember) {
    this.#world = world;
    this.#member = member;
    this.#random = new Random(world.seed + 0x7e4b);
  }

  begin(): void {
    for (const { store } of this.#world.members)
      store.create('Namespace', '', {
        metadata: { name: tenantNamespace, labels: { [annotationClusterset]: 'default' } },
      });
    this.#pod();
    for (const name of names) {
      this.#service(name);
      this.#export(name);
    }
  }

  live(): void {
    const { scheduler, profile } = this.#world;
    for (let i = 0; i < changes; i++)
      scheduler.after(this.#random.between(0, profile.faultsUntilMs - 1), () => this.#try());
  }

  #try(): void {
    if (this.#member.hasLeft) return;
    try {
      this.#change();
    } catch (error) {
      if (!(error instanceof ClusterApiError)) throw error;
    }
  }

  #change(): void {
    const name = this.#random.pick(names);
    const kind = this.#random.next();
    if (kind < 0.35) this.#service(name);
    else if (kind < 0.8) this.#export(name);
    else if (kind < 0.9) this.#member.store.remove('ServiceExport', tenantNamespace, name);
    else this.#member.store.remove('Service', tenantNamespace, name);
  }

  #bytes(): number {
    return this.#random.pick([100, 100, 100, 100, 100, 8_000, 8_000, 30_000, maxBytes]);
  }

  #map(bytes: number): { readonly [key: string]: string } {
    return Object.fromEntries(
      Array.from({ length: Math.floor(bytes / 100) }, (_, i) => [`key-${i}`, 'x'.repeat(63)]),
    );
  }

  #service(name: string): void {
    const count = this.#random.pick([1, 1, 1, 1, 64, 65, 2_000]);
    const base = this.#random.between(1, 1_000);
    const ports = Array.from({ length: count }, (_, i) => ({
      name: `p${i}`,
      port: base + i,
      targetPort: 8080,
      protocol: 'TCP',
    }));
    this.#apply('Service', name, { spec: { selector: { app: 'x' }, ports } });
  }

  #export(name: string): void {
    if (!this.#member.servesMcs) return;
    const annotations = this.#random.chance(0.3) ? this.#map(Math.min(this.#bytes(), 250_000)) : {};
    const spec = { exportedLabels: this.#map(this.#bytes()), exportedAnnotations: this.#map(this.#bytes()) };
    this.#apply('ServiceExport', name, { metadata: { annotations }, spec });
  }

  #pod(): void {
    const ip = `${this.#member.network}.255.1`;
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
    this.#apply('Pod', 'p', {
      metadata: { labels: { app: 'x' } },
      spec: { nodeName: 'node-1', containers: [] },
      status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions },
    });
  }

  #apply(
    kind: 'Service' | 'ServiceExport' | 'Pod',
    name: string,
    more: { readonly metadata?: object; readonly spec: object; readonly status?: object },
  ): void {
    const { store } = this.#member;
    const before = store.find(kind, tenantNamespace, name);
    const metadata = { ...before?.metadata, ...more.metadata, name, namespace: tenantNamespace };
    const object = { ...before, ...more, metadata } as RawObject;
    if (JSON.stringify(object).length > maxBytes) return;
    if (before) store.replace(kind, { namespace: tenantNamespace, name }, object);
    else store.create(kind, tenantNamespace, object);
  }
}
