import { mcsApiVersion } from '#shared/kube/projection/mcs-projection.ts';
import type { ApiKind } from './port.ts';

/** Where each kind lives in the API. */
export const resources: { readonly [K in ApiKind]: Resource } = {
  Service: { apiVersion: 'v1', root: '/api/v1', plural: 'services', namespaced: true },
  Pod: { apiVersion: 'v1', root: '/api/v1', plural: 'pods', namespaced: true },
  Node: { apiVersion: 'v1', root: '/api/v1', plural: 'nodes', namespaced: false },
  Endpoints: { apiVersion: 'v1', root: '/api/v1', plural: 'endpoints', namespaced: true },
  EndpointSlice: {
    apiVersion: 'discovery.k8s.io/v1',
    root: '/apis/discovery.k8s.io/v1',
    plural: 'endpointslices',
    namespaced: true,
  },
  Namespace: { apiVersion: 'v1', root: '/api/v1', plural: 'namespaces', namespaced: false },
  ServiceExport: {
    apiVersion: mcsApiVersion,
    root: `/apis/${mcsApiVersion}`,
    plural: 'serviceexports',
    namespaced: true,
  },
  ServiceImport: {
    apiVersion: mcsApiVersion,
    root: `/apis/${mcsApiVersion}`,
    plural: 'serviceimports',
    namespaced: true,
  },
  Event: { apiVersion: 'v1', root: '/api/v1', plural: 'events', namespaced: true },
};

export interface Resource {
  readonly apiVersion: string;
  readonly root: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Path of the collection; `namespace` "" means the whole cluster. */
export function collectionPath(kind: ApiKind, namespace: string): string {
  const { root, plural, namespaced } = resources[kind];
  return namespaced && namespace !== ''
    ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
    : `${root}/${plural}`;
}

export function objectPath(kind: ApiKind, namespace: string, name: string): string {
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;
}
