/** Service shop/web and what it takes to export and import it, for a SetWorld. */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { MemberOptions } from './set-world.ts';

const object = (kind: string, metadata: object, more: object = {}): RawObject =>
  ({ apiVersion: 'v1', kind, metadata: { namespace: 'shop', name: 'web', ...metadata }, ...more }) as unknown as RawObject;

export const namespace = (labels: { readonly [key: string]: string } = {}): RawObject =>
  object('Namespace', { namespace: undefined, name: 'shop', uid: 'ns', labels });

export const service = (spec: object = {}, metadata: object = {}): RawObject =>
  object(
    'Service',
    { uid: 'web', ...metadata },
    {
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.96.0.9',
        ipFamilies: ['IPv4'],
        selector: { app: 'web' },
        ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
        ...spec,
      },
    },
  );

export const pod = (name: string, ip: string, ready = true): RawObject =>
  object(
    'Pod',
    { name, uid: name, labels: { app: 'web' } },
    {
      spec: { nodeName: 'node-1', containers: [] },
      status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
    },
  );

export const serviceExport = (metadata: object = {}): RawObject =>
  ({
    ...object('ServiceExport', { uid: 'export', creationTimestamp: '2026-01-01T00:00:00Z', generation: 1, ...metadata }, { spec: {} }),
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
  given: [namespace(), service(), pod('web-1', `${ip}.1`), pod('web-2', `${ip}.2`), serviceExport(), ...(more.given ?? [])],
});

export const importer = (more: Partial<MemberOptions> = {}): MemberOptions => ({ ...open, imports: 'active', given: [namespace()], ...more });
