import { httpPort } from '#test/e2e/world.ts';
import { numbers } from '../hands.ts';
import type { Chapter } from '../step.ts';

const web = { app: 'kinds' };
const db = { app: 'db' };
const dual = (h: { slices(service: string): readonly { readonly addressType: string }[] }): string =>
  h
    .slices('dual')
    .map((s) => s.addressType)
    .join();

/** Address families, headless services, unready addresses, external names. */
export const kinds: Chapter = [
  {
    what: 'pods of two families, and of one',
    async play(h) {
      await h.pods('both', numbers(1, 2), { labels: web, dual: true });
      await h.pods('four', [1], { labels: web });
      await h.pods('six', [1], { labels: web, ipv4: false });
    },
  },
  {
    what: 'a service of two families',
    play: (h) =>
      h.service('dual', {
        selector: web,
        ports: [httpPort],
        ipFamilyPolicy: 'RequireDualStack',
        ipFamilies: ['IPv4', 'IPv6'],
      }),
    until: (h) => dual(h) === 'IPv4,IPv6',
  },
  {
    what: 'of one family',
    async play(h) {
      const service = await h.api.get('Service', h.namespace, 'dual');
      const clusterIPs = service?.spec?.clusterIPs?.slice(0, 1);
      await h.patch('dual', { spec: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'], clusterIPs } });
    },
    until: (h) => dual(h) === 'IPv4',
  },
  {
    what: 'of two again',
    play: (h) => h.patch('dual', { spec: { ipFamilyPolicy: 'PreferDualStack' } }),
    until: (h) => dual(h) === 'IPv4,IPv6',
  },
  {
    what: 'a service of IPv6 alone',
    play: (h) => h.service('six', { selector: web, ports: [httpPort], ipFamilies: ['IPv6'] }),
  },
  {
    what: 'one whose first family is IPv6',
    play: (h) =>
      h.service('six-four', {
        selector: web,
        ports: [httpPort],
        ipFamilyPolicy: 'PreferDualStack',
        ipFamilies: ['IPv6', 'IPv4'],
      }),
  },
  {
    what: 'pods with a host name, ready and not',
    async play(h) {
      for (const n of numbers(1, 3))
        await h.pods('db', [n], {
          labels: db,
          ready: n !== 3,
          spec: { hostname: `db-${n}`, subdomain: 'db', containers: [{ name: 'c', image: 'i' }] } as never,
        });
    },
  },
  {
    what: 'a headless service',
    play: (h) =>
      h.service('db', {
        selector: db,
        clusterIP: 'None',
        ports: [{ name: 'sql', port: 5432, protocol: 'TCP' }],
      }),
  },
  {
    what: 'a headless one without ports',
    play: (h) => h.service('peers', { selector: db, clusterIP: 'None' }),
  },
  {
    what: 'unready addresses published',
    play: (h) => h.patch('db', { spec: { publishNotReadyAddresses: true } }),
  },
  { what: 'a pod of it is asked to stop', play: (h) => h.terminatePod('db-1') },
  {
    what: 'not published any more',
    play: (h) => h.patch('db', { spec: { publishNotReadyAddresses: false } }),
  },
  { what: 'the stopped pod is gone', play: (h) => h.removePod('db-1') },
  { what: 'the last pod becomes ready', play: (h) => h.ready(true, 'db-3') },
  {
    what: 'a service with a reserved label',
    play: (h) =>
      h.service(
        'reserved',
        { selector: web, ports: [httpPort] },
        { labels: { app: 'x', 'service.kubernetes.io/headless': '' } },
      ),
  },
  { what: 'a pod of it changes', play: (h) => h.ready(false, 'four-1') },
  // It would be written at every start (EP-59).
  {
    what: 'it is deleted',
    play: (h) => h.api.delete('Service', h.namespace, 'reserved'),
    until: (h) => h.slices('reserved').length === 0,
  },
  {
    what: 'a service that becomes an external name',
    play: (h) =>
      h.patch('six', {
        spec: { type: 'ExternalName', externalName: 'example.com', clusterIP: null, clusterIPs: null },
      } as never),
  },
  { what: 'pods change meanwhile', play: (h) => h.ready(false, 'both-1') },
  {
    what: 'and is itself again',
    play: (h) => h.patch('six', { spec: { type: 'ClusterIP', externalName: null } } as never),
  },
];
