import { describe, expect, it } from 'vitest';
import { decodeExportedPods, encodeExportedPods } from '#shared/clusterset/exports/exported-pods.ts';
import { type MergedExports, mergeExports } from '#shared/clusterset/exports/merge.ts';
import { type ImportSource, planImportedSlices } from '#shared/clusterset/imports/imported-slices.ts';
import type { Pod } from '#shared/kube/types.ts';
import { derivedService, exported, http, nodeIn, pod, webService } from './fixtures.ts';

const again = (given: NonNullable<ImportSource['exported']>): NonNullable<ImportSource['exported']> =>
  decodeExportedPods('shop', 'web', encodeExportedPods(given));

const planOf = (given: ImportSource['exported']) =>
  planImportedSlices({
    name: 'web',
    derived: derivedService({ ipFamilies: ['IPv4', 'IPv6'] }),
    merged: mergeExports([exported('b', given?.service.spec)]) as MergedExports,
    sources: [{ cluster: 'b', state: 'fresh', ...(given && { exported: given }), podCidrs: undefined }],
    importer: { cluster: 'a', zones: [] },
    slices: [],
    maxEndpointsPerSlice: 100,
  });

const port = { name: 'web', containerPort: 9090, protocol: 'TCP' };
const pods: readonly Pod[] = [
  pod('web-1', ['10.2.0.1', 'fd00::1']),
  pod('web-2', '10.2.0.2', { ready: false }),
  pod('web-3', '10.2.0.3', { deleting: true, node: 'node-2' }),
  pod('web-4', '10.2.0.4', { spec: { containers: [{ name: 'c', ports: [port] }] } }),
  pod('web-5', '10.2.0.5', { spec: { containers: [], hostname: 'five', subdomain: 'web' } }),
  pod('web-6', '10.2.0.6', {
    spec: { containers: [], initContainers: [{ name: 'i', restartPolicy: 'Always', ports: [port] }] },
  }),
];
const nodes = new Map([
  ['node-1', nodeIn('z-1')],
  ['node-2', nodeIn('z-2', 'node-2')],
  ['node-3', nodeIn('z-3', 'node-3')],
]);

describe('the pods of an export as text', () => {
  it.each([
    ['a Service', webService()],
    [
      'a headless Service with a named target port',
      webService({ clusterIP: 'None', ports: [{ ...http, targetPort: 'web' }] }),
    ],
    ['a Service that publishes pods that are not ready', webService({ publishNotReadyAddresses: true })],
  ])('an import of %s is the same by the text as by the snapshot', (_, service) => {
    const given = { service, pods, nodes };
    const plan = planOf(given);
    expect(plan.plans.get('b')?.addressTypes.flatMap((t) => t.create).length).toBeGreaterThan(0);
    expect(planOf(again(given))).toEqual(plan);
  });

  it('the text has neither labels, times and uids of pods, nor pods that are no endpoints, nor other nodes', () => {
    const succeeded = {
      ...pod('job', '10.2.0.9'),
      status: { phase: 'Succeeded', podIP: '10.2.0.9', podIPs: [{ ip: '10.2.0.9' }] },
    };
    const text = encodeExportedPods({ service: webService(), pods: [...pods, succeeded], nodes });
    const changed = pods.map((p) => ({
      ...p,
      metadata: { ...p.metadata, uid: 'other', labels: { app: 'web', hash: '2' } },
      status: {
        ...p.status,
        conditions: p.status?.conditions?.map((c) => ({ ...c, lastTransitionTime: '2026-02-02T00:00:00Z' })),
      },
    })) as unknown as readonly Pod[];
    const fewer = new Map([...nodes].slice(0, 2));
    expect(encodeExportedPods({ service: webService(), pods: changed, nodes: fewer })).toBe(text);
  });
});
