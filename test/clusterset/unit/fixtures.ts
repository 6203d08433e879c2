import type { ExportedService } from '#shared/clusterset/exports/precedence.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import { importManagedBy, labelMcsService } from '#shared/kube/names.ts';
import type { Node, Pod, Service } from '#shared/kube/types.ts';
import { pod as anyPod } from '#test/support/objects.ts';

export const http = { name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 } as const;

/** Service shop/web, as an export of the cluster. */
export function exported(
  cluster: string,
  spec: Service['spec'] = {},
  more: Partial<ExportedService> = {},
): ExportedService {
  return {
    cluster,
    uid: `uid-${cluster}`,
    createdAt: '2026-01-01T00:00:00Z',
    labels: {},
    annotations: {},
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.1',
      ipFamilies: ['IPv4'],
      selector: { app: 'web' },
      ports: [http],
      ...spec,
    },
    ...more,
  };
}

export const webService = (spec: Service['spec'] = {}): Service => ({
  metadata: { namespace: 'shop', name: 'web', uid: 'web-uid' },
  spec: exported('b', spec).spec,
});

export const serviceImport = (
  metadata: Partial<ServiceImport['metadata']> = {},
  spec: Partial<ServiceImport['spec']> = {},
): ServiceImport => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceImport',
  metadata: {
    namespace: 'shop',
    name: 'web',
    uid: 'import-uid',
    labels: { [importManagedBy.key]: importManagedBy.value },
    annotations: {
      'fleet-endpoints/clusterset': 'prod',
      'multicluster.kubernetes.io/derived-service': derivedName('shop', 'web'),
    },
    ...metadata,
  },
  spec: { type: 'ClusterSetIP', ports: [], ...spec },
});

/** As the API server holds it. */
export const derivedService = (
  spec: Service['spec'] = {},
  metadata: Partial<Service['metadata']> = {},
): Service => ({
  metadata: {
    namespace: 'shop',
    name: derivedName('shop', 'web'),
    uid: 'derived-uid',
    labels: { [labelMcsService]: 'web', [importManagedBy.key]: importManagedBy.value },
    ownerReferences: [
      {
        apiVersion: 'multicluster.x-k8s.io/v1beta1',
        kind: 'ServiceImport',
        name: 'web',
        uid: 'import-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    ...metadata,
  },
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.96.7.7',
    clusterIPs: ['10.96.7.7'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }],
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
    ...spec,
  },
});

export interface PodOptions {
  readonly ready?: boolean;
  readonly deleting?: boolean;
  readonly node?: string;
  readonly spec?: Pod['spec'];
}

export const pod = (
  name: string,
  ip: string | readonly string[],
  { ready = true, deleting = false, node = 'node-1', spec }: PodOptions = {},
): Pod =>
  anyPod(name, {
    namespace: 'shop',
    ips: [ip].flat(),
    ready,
    deleted: deleting,
    spec: { nodeName: node, containers: [], ...spec },
  });

export const nodeIn = (zone: string, name = 'node-1'): Node => ({
  metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
});
