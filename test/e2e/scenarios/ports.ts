import { expect } from 'vitest';
import { outlineOfEndpoints, outlineOfSlices } from '../outline.ts';
import { httpPort, type Scenario } from '../world.ts';

const labels = { app: 'web' };
const selector = labels;
const named = { name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' };
const up = 'ready serving';

export function ports(scenario: Scenario): void {
  scenario(
    'a target port by number needs no container that declares it, one by name takes the number of its container',
    async (w) => {
      await w.service('web', {
        selector,
        ports: [named, { name: 'metrics', port: 9100, targetPort: 9102, protocol: 'TCP' }],
      });
      await w.pod('a', { labels, ports: [{ name: 'web', containerPort: 8081 }] });
      await w.eventually(() => {
        const both = ['http:8081/TCP', 'metrics:9102/TCP'];
        expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([{ ready: ['a'], notReady: [], ports: both }]);
        expect(outlineOfSlices(w.slices('web'))).toEqual([
          { addressType: 'IPv4', ports: both, endpoints: { a: up } },
        ]);
      });
    },
  );

  scenario(
    'a pod without the named port is left out of Endpoints and listed without ports in slices',
    async (w) => {
      await w.service('web', { selector, ports: [named] });
      await w.pod('with', { labels, ports: [{ name: 'web', containerPort: 8081 }] });
      await w.pod('wrong-protocol', {
        labels,
        ports: [{ name: 'web', containerPort: 8081, protocol: 'UDP' }],
      });
      await w.pod('without', { labels });
      await w.eventually(() => {
        expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([
          { ready: ['with'], notReady: [], ports: ['http:8081/TCP'] },
        ]);
        expect(outlineOfSlices(w.slices('web'))).toEqual([
          { addressType: 'IPv4', ports: ['http:8081/TCP'], endpoints: { with: up } },
          { addressType: 'IPv4', ports: [], endpoints: { without: up, 'wrong-protocol': up } },
        ]);
      });
    },
  );

  scenario(
    'pods that give a port name different numbers are in subsets and slices of their own',
    async (w) => {
      await w.service('web', { selector, ports: [named] });
      await w.pod('old', { labels, ports: [{ name: 'web', containerPort: 8081 }] });
      await w.pod('new', { labels, ports: [{ name: 'web', containerPort: 8082 }], ready: false });
      await w.eventually(() => {
        expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([
          { ready: ['old'], notReady: [], ports: ['http:8081/TCP'] },
          { ready: [], notReady: ['new'], ports: ['http:8082/TCP'] },
        ]);
        expect(outlineOfSlices(w.slices('web'))).toEqual([
          { addressType: 'IPv4', ports: ['http:8081/TCP'], endpoints: { old: up } },
          { addressType: 'IPv4', ports: ['http:8082/TCP'], endpoints: { new: '' } },
        ]);
      });
    },
  );

  scenario('a port of a sidecar is found by name, behind those of the containers', async (w) => {
    const sidecar = {
      name: 's',
      image: 'i',
      restartPolicy: 'Always',
      ports: [
        { name: 'web', containerPort: 1 },
        { name: 'side', containerPort: 2 },
      ],
    };
    await w.service('web', {
      selector,
      ports: [named, { name: 'side', port: 81, targetPort: 'side', protocol: 'TCP' }],
    });
    await w.pod('a', {
      labels,
      spec: {
        containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 8081 }] }],
        initContainers: [sidecar],
      },
    });
    await w.eventually(() => {
      const both = ['http:8081/TCP', 'side:2/TCP'];
      expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([{ ready: ['a'], notReady: [], ports: both }]);
      expect(outlineOfSlices(w.slices('web'))).toEqual([
        { addressType: 'IPv4', ports: both, endpoints: { a: up } },
      ]);
    });
  });

  scenario(
    'one number under several protocols is several ports, and the application protocol goes along',
    async (w) => {
      const protocols = ['TCP', 'UDP', 'SCTP'];
      await w.service('web', {
        selector,
        ports: protocols.map((protocol) => ({
          name: protocol.toLowerCase(),
          port: 53,
          targetPort: 5353,
          protocol,
          appProtocol: 'example.com/dns',
        })),
      });
      await w.pod('a', { labels });
      const all = ['sctp:5353/SCTP', 'tcp:5353/TCP', 'udp:5353/UDP'];
      await w.eventually(() => {
        expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([{ ready: ['a'], notReady: [], ports: all }]);
        expect(outlineOfSlices(w.slices('web'))).toEqual([
          { addressType: 'IPv4', ports: all, endpoints: { a: up } },
        ]);
        expect(w.endpoints('web')?.subsets?.[0]?.ports?.map((p) => p.appProtocol)).toEqual(
          protocols.map(() => 'example.com/dns'),
        );
        expect(w.slices('web')[0]?.ports?.map((p) => p.appProtocol)).toEqual(
          protocols.map(() => 'example.com/dns'),
        );
      });
    },
  );

  scenario(
    'changed ports of a service replace those of its endpoints, and none are left behind',
    async (w) => {
      await w.service('web', { selector, ports: [httpPort] });
      await w.pod('a', { labels });
      await w.eventually(() =>
        expect(outlineOfEndpoints(w.endpoints('web'))?.[0]?.ports).toEqual(['http:8080/TCP']),
      );
      await w.api.patch('Service', w.namespace, 'web', {
        spec: {
          ports: [
            { ...httpPort, targetPort: 9090 },
            { name: 'more', port: 81, targetPort: 81, protocol: 'TCP' },
          ],
        },
      });
      const both = ['http:9090/TCP', 'more:81/TCP'];
      await w.eventually(() => {
        expect(outlineOfEndpoints(w.endpoints('web'))).toEqual([{ ready: ['a'], notReady: [], ports: both }]);
        expect(outlineOfSlices(w.slices('web'))).toEqual([
          { addressType: 'IPv4', ports: both, endpoints: { a: up } },
        ]);
      });
    },
  );
}
