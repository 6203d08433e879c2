/** Actions and view of a user of one cluster of the set in one namespace. */
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import type { ServiceExport, ServiceImport } from '#shared/kube/mcs-types.ts';
import { importsManagedBy, labelSliceManagedBy, labelSourceCluster } from '#shared/kube/names.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import type { Api, Draft } from '#test/e2e/api.ts';
import type { Observed } from '#test/e2e/observed.ts';
import { httpPort, newWorld, type World } from '#test/e2e/world.ts';
import type { ControlPlane } from '#test/support/control-plane/control-plane.ts';

export interface Member {
  readonly id: string;
  readonly controlPlane: ControlPlane;
  readonly api: Api;
  readonly observed: Observed;
}

export interface ClusterWorld extends World {
  readonly id: string;
  createNamespace(labels?: { readonly [key: string]: string }): Promise<void>;
  /** Service `web` (or another) with a ready pod for each address, exported. */
  exported(addresses: readonly string[], options?: ExportedOptions): Promise<void>;
  export(name?: string, spec?: ServiceExport['spec'], annotations?: Annotations): Promise<ServiceExport>;
  unexport(name?: string): Promise<void>;
  /** `Valid`, `Ready` and `Conflict` as `True Valid`; empty while there are none. */
  conditions(name?: string): Promise<{ readonly [type: string]: string }>;
  import(name?: string): Promise<ServiceImport | undefined>;
  derived(name?: string): Promise<Service | undefined>;
  /** Slices of the import, by our managed-by. */
  imported(name?: string): readonly EndpointSlice[];
  /** `b 10.2.0.1 ready`, sorted. */
  seen(name?: string): readonly string[];
}

type Annotations = { readonly [key: string]: string };

/** Several clusters on one machine, which may do other things besides. */
const patience = 60_000;

export interface ExportedOptions {
  readonly name?: string;
  readonly spec?: Draft<'Service'>['spec'];
  readonly exportSpec?: ServiceExport['spec'];
  /** Annotations of the export. */
  readonly annotations?: Annotations;
}

export function clusterWorld({ id, api, observed }: Member, namespace: string): ClusterWorld {
  const world = newWorld(api, observed, namespace, ['node-0', 'node-1']);
  const imported: ClusterWorld['imported'] = (name = 'web') =>
    observed
      .slices(namespace, derivedName(namespace, name))
      .filter((s) => s.metadata.labels?.[labelSliceManagedBy] === importsManagedBy);
  const self: ClusterWorld = {
    ...world,
    id,
    eventually: (assertion, timeoutMs = patience) => observed.eventually(assertion, timeoutMs),
    createNamespace: async (labels = {}) =>
      void (await api.create('Namespace', '', { metadata: { name: namespace, labels } })),
    async exported(addresses, { name = 'web', spec = {}, exportSpec, annotations } = {}) {
      await world.service(name, {
        selector: { app: name },
        ports: [httpPort],
        ...spec,
      } as Draft<'Service'>['spec']);
      for (const [i, address] of addresses.entries())
        await world.pod(`${name}-${i}`, {
          labels: { app: name },
          ips: address.split(' '),
          node: world.nodes[i % 2] as string,
        });
      await self.export(name, exportSpec, annotations);
    },
    export: (name = 'web', spec = {}, annotations = {}) =>
      api.create('ServiceExport', namespace, { metadata: { name, annotations }, spec }),
    unexport: (name = 'web') => api.delete('ServiceExport', namespace, name),
    async conditions(name = 'web') {
      const found = await api.get('ServiceExport', namespace, name);
      return Object.fromEntries(
        (found?.status?.conditions ?? []).map((c) => [c.type, `${c.status} ${c.reason}`]),
      );
    },
    import: (name = 'web') => api.get('ServiceImport', namespace, name),
    derived: (name = 'web') => api.get('Service', namespace, derivedName(namespace, name)),
    imported,
    seen: (name = 'web') => imported(name).flatMap(endpointsSeen).sort(),
  };
  return self;
}

function endpointsSeen({ metadata, endpoints }: EndpointSlice): readonly string[] {
  const source = metadata.labels?.[labelSourceCluster];
  return (endpoints ?? []).map(({ addresses, conditions: { ready, serving, terminating } = {} }) => {
    const state = terminating ? (serving ? 'draining' : 'stopping') : ready ? 'ready' : 'waiting';
    return `${source} ${addresses.join()} ${state}`;
  });
}

/** Name and version of each: equal only if none was written. */
export const versions = (slices: readonly EndpointSlice[]): readonly string[] =>
  slices.map((s) => `${s.metadata.name} ${s.metadata.resourceVersion}`).sort();

export const ofSource = (slices: readonly EndpointSlice[], cluster: string): readonly EndpointSlice[] =>
  slices.filter((s) => s.metadata.labels?.[labelSourceCluster] === cluster);
