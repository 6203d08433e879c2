import { expect } from 'vitest';
import { outlineOfSlices } from '../outline.ts';
import { httpPort, type Scenario, type World } from '../world.ts';

const labels = { app: 'web' };
const selector = labels;
const headless = 'service.kubernetes.io/headless';

const ipsOfEndpoints = (w: World, service: string): readonly string[] =>
  (w.endpoints(service)?.subsets ?? []).flatMap((s) => (s.addresses ?? []).map((a) => a.ip)).toSorted();
const ipsOfSlices = (w: World, service: string): { readonly [type: string]: readonly string[] } =>
  Object.fromEntries(
    w.slices(service).map((s) => [s.addressType, (s.endpoints ?? []).flatMap((e) => e.addresses).toSorted()]),
  );

export function families(scenario: Scenario): void {
  scenario('a dual-stack service has a slice for each family and Endpoints of the first', async (w) => {
    await w.service('four', {
      selector,
      ports: [httpPort],
      ipFamilyPolicy: 'RequireDualStack',
      ipFamilies: ['IPv4', 'IPv6'],
    });
    await w.service('six', {
      selector,
      ports: [httpPort],
      ipFamilyPolicy: 'RequireDualStack',
      ipFamilies: ['IPv6', 'IPv4'],
    });
    await w.pod('a', { labels, ips: ['10.3.0.1', 'fd00:1::1'] });
    await w.pod('b', { labels, ips: ['10.3.0.2'] });
    const both = { IPv4: ['10.3.0.1', '10.3.0.2'], IPv6: ['fd00:1::1'] };
    await w.eventually(() => {
      expect(ipsOfEndpoints(w, 'four')).toEqual(['10.3.0.1', '10.3.0.2']);
      expect(ipsOfEndpoints(w, 'six')).toEqual(['fd00:1::1']);
      expect(ipsOfSlices(w, 'four')).toEqual(both);
      expect(ipsOfSlices(w, 'six')).toEqual(both);
    });
  });

  scenario(
    'a service of one family takes the address of that family, and a family without pods has an empty slice',
    async (w) => {
      await w.service('six', {
        selector,
        ports: [httpPort],
        ipFamilyPolicy: 'SingleStack',
        ipFamilies: ['IPv6'],
      });
      await w.service('both', {
        selector: { app: 'four' },
        ports: [httpPort],
        ipFamilyPolicy: 'RequireDualStack',
        ipFamilies: ['IPv4', 'IPv6'],
      });
      await w.pod('a', { labels, ips: ['10.3.0.1', 'fd00:1::1'] });
      await w.pod('b', { labels: { app: 'four' }, ips: ['10.3.0.2'] });
      await w.eventually(() => {
        expect(ipsOfEndpoints(w, 'six')).toEqual(['fd00:1::1']);
        expect(ipsOfSlices(w, 'six')).toEqual({ IPv6: ['fd00:1::1'] });
        expect(ipsOfSlices(w, 'both')).toEqual({ IPv4: ['10.3.0.2'], IPv6: [] });
      });
    },
  );

  scenario('a service that gives up its second family gives up the slices of it', async (w) => {
    await w.service('web', {
      selector,
      ports: [httpPort],
      ipFamilyPolicy: 'RequireDualStack',
      ipFamilies: ['IPv4', 'IPv6'],
    });
    await w.pod('a', { labels, ips: ['10.3.0.1', 'fd00:1::1'] });
    await w.eventually(() =>
      expect(ipsOfSlices(w, 'web')).toEqual({ IPv4: ['10.3.0.1'], IPv6: ['fd00:1::1'] }),
    );
    const { spec } = (await w.api.get('Service', w.namespace, 'web')) ?? {};
    await w.api.patch('Service', w.namespace, 'web', {
      spec: {
        ipFamilyPolicy: 'SingleStack',
        ipFamilies: ['IPv4'],
        clusterIPs: spec?.clusterIPs?.slice(0, 1) ?? [],
      },
    });
    await w.eventually(() => expect(ipsOfSlices(w, 'web')).toEqual({ IPv4: ['10.3.0.1'] }));
  });

  scenario(
    'headless services are labelled as such, with ports and without, and only they may have none',
    async (w) => {
      const single = { selector, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] };
      await w.service('headless', { ...single, clusterIP: 'None', ports: [httpPort] });
      await w.service('portless', { ...single, clusterIP: 'None' });
      await w.service('normal', { ...single, ports: [httpPort] });
      await w.pod('a', { labels, ips: ['10.3.0.1'] });
      await w.eventually(() => {
        for (const name of ['headless', 'portless', 'normal']) {
          expect(ipsOfEndpoints(w, name)).toEqual(['10.3.0.1']);
          expect(outlineOfSlices(w.slices(name))).toMatchObject([{ endpoints: { a: 'ready serving' } }]);
        }
        expect(w.endpoints('portless')?.subsets?.[0]?.ports).toBeUndefined();
        expect(w.slices('portless')[0]?.ports ?? []).toEqual([]);
        const labelled = (name: string): readonly (string | undefined)[] =>
          [w.endpoints(name), ...w.slices(name)].map((o) => o?.metadata.labels?.[headless]);
        expect(labelled('headless')).toEqual(['', '']);
        expect(labelled('portless')).toEqual(['', '']);
        expect(labelled('normal')).toEqual([undefined, undefined]);
      });
    },
  );

  scenario(
    'a pod with a hostname and the service as its subdomain is listed with the hostname',
    async (w) => {
      await w.service('web', { selector, clusterIP: 'None', ports: [httpPort] });
      await w.pod('a', { labels, spec: { hostname: 'first', subdomain: 'web' } });
      await w.pod('b', { labels, spec: { hostname: 'second', subdomain: 'other' } });
      await w.eventually(() => {
        const inEndpoints = w.endpoints('web')?.subsets?.flatMap((s) => s.addresses ?? []) ?? [];
        expect(Object.fromEntries(inEndpoints.map((a) => [a.targetRef?.name, a.hostname]))).toEqual({
          a: 'first',
          b: undefined,
        });
        const inSlices = w.slices('web').flatMap((s) => s.endpoints ?? []);
        expect(Object.fromEntries(inSlices.map((e) => [e.targetRef?.name, e.hostname]))).toEqual({
          a: 'first',
          b: undefined,
        });
      });
    },
  );
}
