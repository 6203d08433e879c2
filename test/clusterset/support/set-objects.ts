/** Service shop/web and what it takes to export and import it, for a SetWorld. */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import {
  annotationSelector,
  importsManagedBy,
  labelSliceManagedBy,
  labelSourceCluster,
} from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { pod as anyPod, service as anyService } from '#test/support/objects.ts';
import type { MemberOptions, SetWorld } from './set-world.ts';

export const object = (kind: string, metadata: object, more: object = {}): RawObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { namespace: 'shop', name: 'web', ...metadata },
  ...more,
});

export const namespace = (labels: { readonly [key: string]: string } = {}): RawObject =>
  object('Namespace', { namespace: undefined, name: 'shop', uid: 'ns', labels });

export const service = (spec: Service['spec'] = {}, metadata: object = {}): RawObject =>
  anyService(
    { type: 'ClusterIP', clusterIP: '10.96.0.9', ...spec },
    { namespace: 'shop', name: 'web', uid: 'web', ...metadata },
  ) as unknown as RawObject;

/** Without a selector, with the annotation. */
export const optedIn = (annotation = 'app=web'): RawObject =>
  service({ selector: undefined }, { annotations: { [annotationSelector]: annotation } });

export const pod = (name: string, ip: string, ready = true): RawObject =>
  anyPod(name, {
    namespace: 'shop',
    uid: name,
    ips: [ip],
    ready,
    spec: { containers: [] },
  }) as unknown as RawObject;

export const serviceExport = (metadata: object = {}): RawObject =>
  ({
    ...object(
      'ServiceExport',
      { uid: 'export', creationTimestamp: '2026-01-01T00:00:00Z', generation: 1, ...metadata },
      { spec: {} },
    ),
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
  }) as RawObject;

export const foreignImport = (): RawObject =>
  ({
    ...object('ServiceImport', { uid: 'theirs' }, { spec: { type: 'ClusterSetIP', ports: [] } }),
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
  }) as RawObject;

export const open = { sameness: 'all' } as const;

/** With two pods in the network of `ip`, e.g. 10.2.0. */
export const exporter = (ip: string, more: Partial<MemberOptions> = {}): MemberOptions => ({
  ...open,
  exports: { namespaces: ['shop'] },
  ...more,
  given: [
    namespace(),
    service(),
    pod('web-1', `${ip}.1`),
    pod('web-2', `${ip}.2`),
    serviceExport(),
    ...(more.given ?? []),
  ],
});

export const importer = (more: Partial<MemberOptions> = {}): MemberOptions => ({
  ...open,
  imports: 'active',
  given: [namespace()],
  ...more,
});

export const importedSlices = (world: SetWorld, id: string) =>
  world
    .of(id)
    .store.list('EndpointSlice', 'shop')
    .filter((s) => s.metadata.labels?.[labelSliceManagedBy] === importsManagedBy);

/** Endpoints of imports in the cluster, each as "source address". */
export const imported = (world: SetWorld, id: string): readonly string[] =>
  importedSlices(world, id)
    .flatMap((s) =>
      (s.endpoints ?? []).map((e) => `${s.metadata.labels?.[labelSourceCluster]} ${e.addresses.join()}`),
    )
    .sort();

/** Of a ServiceExport or ServiceImport, each as "type status reason: message". */
export const conditionsOf = (
  world: SetWorld,
  id: string,
  kind: 'ServiceExport' | 'ServiceImport' = 'ServiceExport',
): readonly string[] => {
  const { status } = world.of(id).store.find(kind, 'shop', 'web') ?? {};
  const conditions = (status?.['conditions'] ?? []) as readonly {
    readonly [F in 'type' | 'status' | 'reason' | 'message']: string;
  }[];
  return conditions.map(({ type, status: is, reason, message }) => `${type} ${is} ${reason}: ${message}`);
};
