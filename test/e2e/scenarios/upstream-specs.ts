import { expect } from 'vitest';
import { outlineOfEndpoints, outlineOfSlices } from '../outline.ts';
import type { Scenario, World } from '../world.ts';

/** Kubernetes' own conformance specs for the two controllers, with their names, in this suite's terms. */
export function upstreamSpecs(scenario: Scenario): void {
  scenario(
    'EndpointsController should create and delete Endpoints for a Service with a selector that matches no pods',
    async (w) => {
      await serviceWithoutPods(w);
      await w.eventually(() => expect(outlineOfEndpoints(w.endpoints('example-empty-selector'))).toEqual([]));
      await w.api.delete('Service', w.namespace, 'example-empty-selector');
      await w.eventually(() => expect(w.endpoints('example-empty-selector')).toBeUndefined());
    },
  );

  scenario(
    'EndpointSlice should create and delete EndpointSlices for a Service with a selector that matches no pods',
    async (w) => {
      await serviceWithoutPods(w);
      await w.eventually(() =>
        expect(outlineOfSlices(w.slices('example-empty-selector'))).toEqual([
          { addressType: 'IPv4', ports: [], endpoints: {} },
        ]),
      );
      expect(
        w.slices('example-empty-selector')[0]?.metadata.labels?.['endpointslice.kubernetes.io/managed-by'],
      ).toBe('endpointslice-controller.k8s.io');
      await w.api.delete('Service', w.namespace, 'example-empty-selector');
      await w.eventually(() => expect(w.slices('example-empty-selector')).toEqual([]));
    },
  );

  scenario('EndpointsController should create Endpoints for Pods matching a Service', async (w) => {
    await podsAndServices(w);
    await w.eventually(() => {
      expect(outlineOfEndpoints(w.endpoints('example-int-port'))).toEqual([
        { ready: ['pod1'], notReady: [], ports: ['example:3000/TCP'] },
      ]);
      expect(outlineOfEndpoints(w.endpoints('example-named-port'))).toEqual([
        { ready: ['pod1'], notReady: [], ports: ['http:3000/TCP'] },
        { ready: ['pod2'], notReady: [], ports: ['http:3001/TCP'] },
      ]);
    });
    for (const [service, names] of Object.entries(podsOf)) {
      const addresses = (w.endpoints(service)?.subsets ?? []).flatMap((s) => s.addresses ?? []);
      expect(inOrder(addresses.map(({ ip, targetRef }) => ({ ip, targetRef })))).toEqual(
        await references(w, names),
      );
    }
  });

  scenario(
    'EndpointSlice should create Endpoints and EndpointSlices for Pods matching a Service',
    async (w) => {
      await podsAndServices(w);
      const pod = (name: string, port: string) => ({
        addressType: 'IPv4',
        ports: [port],
        endpoints: { [name]: 'ready serving' },
      });
      const expectSlices = (): Promise<void> =>
        w.eventually(() => {
          expect(outlineOfSlices(w.slices('example-int-port'))).toEqual([pod('pod1', 'example:3000/TCP')]);
          expect(outlineOfSlices(w.slices('example-named-port'))).toEqual([
            pod('pod1', 'http:3000/TCP'),
            pod('pod2', 'http:3001/TCP'),
          ]);
        });
      await expectSlices();
      for (const [service, names] of Object.entries(podsOf)) {
        const endpoints = w.slices(service).flatMap((s) => s.endpoints ?? []);
        expect(inOrder(endpoints.map(({ addresses: [ip], targetRef }) => ({ ip, targetRef })))).toEqual(
          await references(w, names),
        );
      }
      await w.settled();
      // Made again after they have been deleted.
      const uids = w.slices('example-named-port').map((s) => s.metadata.uid);
      for (const slice of w.slices('example-named-port'))
        await w.api.delete('EndpointSlice', w.namespace, slice.metadata.name);
      await w.eventually(() => {
        const now = w.slices('example-named-port').map((s) => s.metadata.uid);
        expect(now).toHaveLength(2);
        expect(now.filter((uid) => uids.includes(uid))).toEqual([]);
      });
      await expectSlices();
    },
  );
}

const podsOf = { 'example-int-port': ['pod1'], 'example-named-port': ['pod1', 'pod2'] };

/** Address and reference that an endpoint of each of these pods must have. */
async function references(w: World, names: readonly string[]) {
  const pods = await Promise.all(names.map((name) => w.api.get('Pod', w.namespace, name)));
  return pods.map((pod) => ({
    ip: pod?.status?.podIP,
    targetRef: { kind: 'Pod', namespace: w.namespace, name: pod?.metadata.name, uid: pod?.metadata.uid },
  }));
}

const inOrder = <T extends { readonly targetRef?: { readonly name?: string } | undefined }>(
  list: readonly T[],
): readonly T[] => list.toSorted((a, b) => ((a.targetRef?.name ?? '') < (b.targetRef?.name ?? '') ? -1 : 1));

async function serviceWithoutPods(w: World): Promise<void> {
  const selector = { 'does-not-match-anything': 'there-are-endpoints-all-the-same' };
  await w.service('example-empty-selector', {
    selector,
    ports: [{ name: 'example', port: 80, protocol: 'TCP' }],
  });
}

async function podsAndServices(w: World): Promise<void> {
  const pod = (name: string, ports: { readonly [name: string]: number }) =>
    w.pod(name, {
      labels: { [name]: 'on', shared12: 'on' },
      // Its address comes later, when the services are there.
      phase: 'Pending',
      ips: [],
      ready: false,
      ports: Object.entries(ports).map(([portName, containerPort]) => ({ name: portName, containerPort })),
    });
  await pod('pod1', { 'example-name': 3000 });
  await pod('pod2', { 'example-name': 3001, 'other-port': 3002 });
  const service = (name: string, label: string, portName: string, targetPort: number | string) =>
    w.service(name, {
      selector: { [label]: 'on' },
      publishNotReadyAddresses: true,
      ports: [{ name: portName, port: 80, targetPort, protocol: 'TCP' }],
    });
  await service('example-int-port', 'pod1', 'example', 3000);
  await service('example-named-port', 'shared12', 'http', 'example-name');
  for (const [i, name] of ['pod1', 'pod2'].entries()) await w.podStatus(name, { ips: [`10.1.0.${i + 1}`] });
}
