import { describe, expect, it } from 'vitest';
import type { ServiceExport, ServiceImport } from '#shared/kube/mcs-types.ts';
import { decodeProjection, encodeProjection, project } from '#shared/kube/projection/projection.ts';
import type { Namespace, Service } from '#shared/kube/types.ts';

const condition = {
  type: 'Valid',
  status: 'True',
  reason: 'Valid',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;
const anExport: ServiceExport = {
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: {
    namespace: 'shop',
    name: 'web',
    uid: 'u',
    generation: 3,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { a: 'b' },
  },
  spec: { exportedLabels: { tier: 'front' }, exportedAnnotations: { note: 'n' } },
};

describe('the projection of the kinds of a clusterset', () => {
  it('an export is its metadata, and its status does not leave the cluster: our own conditions would return as a change', () => {
    const text = encodeProjection('ServiceExport', anExport);
    expect(encodeProjection('ServiceExport', { ...anExport, status: { conditions: [condition] } })).toBe(
      text,
    );
    expect(decodeProjection('ServiceExport', 'shop', 'web', text)).toEqual({
      ...anExport,
      metadata: { ...anExport.metadata, labels: undefined, annotations: {} },
    });
  });

  it('an export has the annotations that prefer endpoints', () => {
    const annotated = (annotations: { readonly [key: string]: string }): ServiceExport => ({
      ...anExport,
      metadata: { ...anExport.metadata, annotations },
    });
    const text = encodeProjection('ServiceExport', anExport);
    expect(encodeProjection('ServiceExport', annotated({ secret: 's' }))).toBe(text);
    expect(text).toBe('["u","2026-01-01T00:00:00Z","",3,{"tier":"front"},{"note":"n"},{}]');
    const ours = { 'fleet-endpoints/prefer': 'local', 'fleet-endpoints/min-local': '30%' };
    expect(project('ServiceExport', annotated({ ...ours, secret: 's' })).metadata.annotations).toEqual(ours);
    const long = project('ServiceExport', annotated({ 'fleet-endpoints/prefer': 'x'.repeat(100_000) }));
    expect(long.metadata.annotations?.['fleet-endpoints/prefer']).toHaveLength(64);
  });

  it('an import distinguishes a change of its spec, labels and annotations from a change of its status', () => {
    const metadata = {
      namespace: 'shop',
      name: 'web',
      uid: 'u',
      generation: 1,
      labels: { a: 'b' },
      annotations: {},
    };
    const anImport = {
      apiVersion: anExport.apiVersion,
      kind: 'ServiceImport',
      metadata,
      spec: { type: 'Headless', ports: [] },
    } satisfies ServiceImport;
    const text = (more: object) => encodeProjection('ServiceImport', { ...anImport, ...more });
    expect(text({ status: { clusters: [{ cluster: 'b' }] } })).toBe(text({}));
    expect(text({ metadata: { ...metadata, generation: 2 } })).not.toBe(text({}));
    expect(text({ metadata: { ...metadata, labels: {} } })).not.toBe(text({}));
  });

  it('a namespace is its uid, its end, and the set whose imports it takes: no other label leaves the cluster', () => {
    const namespace: Namespace = {
      metadata: { name: 'shop', uid: 'u', labels: { 'fleet-endpoints/clusterset': 'prod', secret: 's' } },
    };
    expect(encodeProjection('Namespace', namespace)).toBe('["u","","prod"]');
    expect(project('Namespace', namespace).metadata.labels).toEqual({ 'fleet-endpoints/clusterset': 'prod' });
    expect(
      project('Namespace', {
        metadata: { name: 'shop', uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' },
      }).metadata,
    ).toEqual({
      name: 'shop',
      uid: 'u',
      labels: {},
      deletionTimestamp: '2026-01-01T00:00:00Z',
    });
  });

  it('a Service without affinity and with the policy of every Service has the text that it had before these were sent', () => {
    const service = (spec: Service['spec']): Service => ({
      metadata: { namespace: 'shop', name: 'web', uid: 'u' },
      spec: { type: 'ClusterIP', ...spec },
    });
    const text = (spec: Service['spec']) => encodeProjection('Service', service(spec));
    expect(text({ sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' })).toBe(text({}));
    const affine = {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } },
      internalTrafficPolicy: 'Local',
    };
    expect(project('Service', service(affine)).spec).toEqual({ type: 'ClusterIP', ...affine });
  });
});
