/**
 * The 17 specs of the Multi-Cluster Services API's own conformance suite that need only API servers, in our
 * terms. They use the first two clusters, the suite's `hello` Service, and its timeout of 20 s. The test
 * plays the pods in place of a kubelet. test/cluster/packets has the other ten specs.
 */
import { expect } from 'vitest';
import type { ImportSpec, ServiceExport, ServiceImport } from '#shared/kube/mcs-types.ts';
import {
  labelMcsService,
  labelSliceManagedBy,
  labelSourceCluster,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import type { ClusterWorld } from '#test/clusterset/multi-cluster/cluster-world.ts';
import type { Scenario, SetWorld } from '#test/clusterset/multi-cluster/fleet.ts';
import type { Draft } from '#test/e2e/api.ts';

const hello = {
  ipFamilyPolicy: 'PreferDualStack',
  selector: { app: 'hello' },
  ports: [
    { name: 'tcp', port: 42, protocol: 'TCP' },
    { name: 'udp', port: 42, protocol: 'UDP' },
  ],
  sessionAffinity: 'ClientIP',
  sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
} satisfies Draft<'Service'>['spec'];
type Spec = Draft<'Service'>['spec'];

/** The Service has labels and annotations of its own, which must not be exported. */
async function deploy(cluster: ClusterWorld, spec: Spec, address: string): Promise<void> {
  await cluster.service('hello', spec, {
    labels: { 'not-exported': 'true' },
    annotations: { 'not-exported': 'true' },
  });
  await cluster.pod('hello-0', { labels: { app: 'hello' }, ips: [address] });
}

interface Exported {
  readonly first?: Spec;
  readonly second?: Spec;
  readonly specs?: readonly [ServiceExport['spec'], ServiceExport['spec']];
}

async function exportFirst(
  { of }: SetWorld,
  spec: Spec = hello,
  exportSpec: ServiceExport['spec'] = {},
): Promise<void> {
  await deploy(of('a'), spec, '10.1.0.1');
  await of('a').export('hello', exportSpec);
}

/** As the suite does it: the first export is older by a second, and so has precedence. */
async function exportBoth(
  set: SetWorld,
  { first = hello, second = hello, specs = [{}, {}] }: Exported,
): Promise<void> {
  const [a, b] = [set.of('a'), set.of('b')];
  await exportFirst(set, first, specs[0]);
  await deploy(b, second, '10.2.0.1');
  const { creationTimestamp } = (await a.api.get('ServiceExport', a.namespace, 'hello'))?.metadata ?? {};
  await b.eventually(() => expect(Date.now()).toBeGreaterThan(Date.parse(String(creationTimestamp)) + 1_000));
  await b.export('hello', specs[1]);
}

const imported = (cluster: ClusterWorld, verify: (found: ServiceImport) => void): Promise<void> =>
  cluster.eventually(async () => {
    const found = await cluster.import('hello');
    if (!found) throw new Error(`${cluster.id} has no import of hello`);
    verify(found);
  });
const isGone = (cluster: ClusterWorld): Promise<void> =>
  cluster.eventually(async () => expect(await cluster.import('hello'), cluster.id).toBeUndefined());
const conflictsOnBoth = async ({ of }: SetWorld): Promise<void> => {
  for (const id of ['a', 'b'])
    await of(id).eventually(async () =>
      expect((await of(id).conditions('hello'))['Conflict']).toMatch(/^True /),
    );
};
const byName = (ports: ImportSpec['ports']) =>
  [...ports].sort((p, q) => ((p.name ?? '') < (q.name ?? '') ? -1 : 1));
const mcsSlices = async ({ api, namespace }: ClusterWorld): Promise<readonly EndpointSlice[]> =>
  (await api.list('EndpointSlice', namespace)).items.filter(
    (s) => s.metadata.labels?.[labelMcsService] ?? s.metadata.labels?.[labelSourceCluster],
  );

export function conformance(scenario: Scenario): void {
  scenario('spec 1: a ServiceImport exists as long as at least one cluster exports', async (set) => {
    const [a, b] = [set.of('a'), set.of('b')];
    await exportBoth(set, {});
    await imported(a, ({ status }) => expect(status?.clusters).toEqual([{ cluster: 'a' }, { cluster: 'b' }]));
    await a.unexport('hello');
    await imported(a, ({ status }) => expect(status?.clusters).toEqual([{ cluster: 'b' }]));
    await b.unexport('hello');
    await isGone(a);
  });

  scenario(
    'spec 2: only labels and annotations that the ServiceExport names are those of the ServiceImport',
    async (set) => {
      await exportFirst(set, hello, {
        exportedLabels: { 'dummy-label': 'true' },
        exportedAnnotations: { 'dummy-annotation': 'true' },
      });
      await imported(set.of('a'), ({ metadata: { labels, annotations } }) => {
        expect(labels).toHaveProperty('dummy-label', 'true');
        expect(annotations).toHaveProperty('dummy-annotation', 'true');
        for (const of of [labels, annotations]) expect(of).not.toHaveProperty('not-exported');
      });
    },
  );

  scenario(
    'spec 3: conflicting labels and annotations are those of the first export, and both exports report it',
    async (set) => {
      const of = (n: string) => ({
        exportedLabels: { [`dummy-label${n}`]: 'true' },
        exportedAnnotations: { [`dummy-annotation${n}`]: 'true' },
      });
      await exportBoth(set, { specs: [of(''), of('2')] });
      await conflictsOnBoth(set);
      await imported(set.of('a'), ({ metadata: { labels, annotations } }) => {
        expect(labels).toHaveProperty('dummy-label', 'true');
        expect(annotations).toHaveProperty('dummy-annotation', 'true');
        expect(labels).not.toHaveProperty('dummy-label2');
        expect(annotations).not.toHaveProperty('dummy-annotation2');
      });
    },
  );

  scenario('spec 4: an address is allocated for each family of a ClusterSetIP import', async (set) => {
    await exportFirst(set);
    await imported(set.of('a'), ({ spec: { ips = [], ipFamilies = [] } }) => {
      expect(ips.map((ip) => (ip.includes(':') ? 'IPv6' : 'IPv4'))).toEqual(ipFamilies);
      expect(new Set(ipFamilies).size).toBe(2);
    });
  });

  scenario(
    'spec 5: a ClusterIP Service is an import of type ClusterSetIP in each cluster, and none after its last export',
    async (set) => {
      await exportFirst(set);
      for (const cluster of set.all)
        await imported(cluster, (found) => expect(found.spec.type).toBe('ClusterSetIP'));
      await set.of('a').unexport('hello');
      for (const cluster of set.all) await isGone(cluster);
    },
  );

  scenario(
    'specs 6 to 9: sessionAffinity, ports, internalTrafficPolicy and trafficDistribution are those of the Service',
    async (set) => {
      const more = { internalTrafficPolicy: 'Local', trafficDistribution: 'PreferClose' };
      await exportFirst(set, { ...hello, ...more });
      await imported(set.of('b'), ({ spec }) => {
        const { sessionAffinity, sessionAffinityConfig } = hello;
        expect(spec).toMatchObject({ sessionAffinity, sessionAffinityConfig, ...more });
        expect(byName(spec.ports)).toEqual(hello.ports);
      });
    },
  );

  scenario('spec 10: an import of two clusters has the union of their ports', async (set) => {
    const sctp = { name: 'stcp', port: 142, protocol: 'SCTP' };
    await exportBoth(set, { second: { ...hello, ports: [hello.ports[0], sctp] } });
    await imported(set.of('a'), ({ spec }) => expect(byName(spec.ports)).toEqual([sctp, ...hello.ports]));
    await conflictsOnBoth(set);
  });

  scenario(
    'spec 11: conflicting ports are those of the first export, and both exports report it',
    async (set) => {
      await exportBoth(set, { second: { ...hello, ports: [{ ...hello.ports[0], port: 43 }] } });
      await conflictsOnBoth(set);
      await imported(set.of('a'), ({ spec }) => expect(byName(spec.ports)).toEqual(hello.ports));
    },
  );

  scenario(
    'spec 12: each cluster has a slice with the labels of the API, and none after the Service’s last export',
    async (set) => {
      await exportFirst(set);
      for (const cluster of set.all) {
        await cluster.eventually(async () => expect((await mcsSlices(cluster)).length).toBeGreaterThan(0));
        for (const { metadata } of await mcsSlices(cluster)) {
          expect(metadata.labels).toMatchObject({
            [labelMcsService]: 'hello',
            [labelSourceCluster]: 'a',
            [labelSliceManagedBy]: expect.anything(),
          });
          expect(metadata.labels?.[labelSliceManagedBy]).not.toBe(slicesManagedBy);
        }
      }
      await set.of('a').unexport('hello');
      for (const cluster of set.all)
        await cluster.eventually(async () => expect(await mcsSlices(cluster)).toEqual([]));
    },
  );

  scenario('spec 19: an ExternalName Service is no valid export, and has no import', async (set) => {
    const a = set.of('a');
    const { ipFamilyPolicy: _, ...spec } = { ...hello, type: 'ExternalName', externalName: 'example.com' };
    await exportFirst(set, spec);
    await a.eventually(async () =>
      expect(await a.conditions('hello')).toMatchObject({ Valid: 'False InvalidServiceType' }),
    );
    // A later export is imported, so no import of the first was still pending.
    await set.of('b').exported(['10.2.0.1'], { name: 'later' });
    await a.eventually(() => expect(a.seen('later')).toHaveLength(1));
    expect(await a.import('hello')).toBeUndefined();
  });

  scenario('spec 20: a Service that is not exported is imported by no cluster', async (set) => {
    await deploy(set.of('a'), hello, '10.1.0.1');
    await set.of('a').exported(['10.1.0.2'], { name: 'later' });
    for (const cluster of set.all)
      await cluster.eventually(() => expect(cluster.seen('later')).toHaveLength(1));
    for (const cluster of set.all) expect(await cluster.import('hello')).toBeUndefined();
  });

  scenario(
    'specs 25 and 26: a headless Service is an import of type Headless without addresses, and none after its last export',
    async (set) => {
      await exportFirst(set, { ...hello, clusterIP: 'None' });
      for (const cluster of set.all) {
        await cluster.eventually(() => expect(cluster.seen('hello')).toEqual(['a 10.1.0.1 ready']));
        await imported(cluster, ({ spec }) => {
          expect(spec.type).toBe('Headless');
          expect(spec.ips ?? []).toEqual([]);
        });
      }
      await set.of('a').unexport('hello');
      for (const cluster of set.all) await isGone(cluster);
    },
  );

  scenario('spec 27: the first of headless and other exports decides, and both report it', async (set) => {
    await exportBoth(set, { second: { ...hello, clusterIP: 'None' } });
    await conflictsOnBoth(set);
    for (const cluster of set.all)
      await imported(cluster, (found) => expect(found.spec.type).toBe('ClusterSetIP'));
  });
}
