import type { EndpointSlice } from '#shared/kube/types.ts';
import { httpPort } from '#test/e2e/world.ts';
import { type Hands, numbers } from '../hands.ts';
import type { Chapter } from '../step.ts';

const labels = { app: 'foreign' };
const serviceName = 'kubernetes.io/service-name';
const managedBy = 'endpointslice.kubernetes.io/managed-by';
const controller = 'endpointslice-controller.k8s.io';
/** As the server has them: what is watched may not show the user's own change yet. */
async function slices(h: Hands): Promise<readonly EndpointSlice[]> {
  const { items } = await h.api.list('EndpointSlice', h.namespace);
  return items.filter((s) => s.metadata.labels?.[serviceName] === 'foreign');
}
const pods = async (h: Hands): Promise<number> =>
  (await slices(h)).reduce((n, s) => n + (s.endpoints?.length ?? 0), 0);
const theirs = { addressType: 'IPv4' as const, endpoints: [{ addresses: ['192.0.2.1'] }], ports: [] };
const byHand = { subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }] };

/** Users' changes of Endpoints and slices. */
export const foreign: Chapter = [
  {
    what: 'pods, and their service',
    async play(h) {
      await h.pods('foreign', numbers(1, 3), { labels });
      await h.service('foreign', { selector: labels, ports: [httpPort] });
    },
    several: true,
  },
  {
    what: 'a slice emptied by a user',
    play: (h) => h.api.patch('EndpointSlice', h.namespace, h.slice('foreign'), { endpoints: [] }),
    until: async (h) => (await pods(h)) === 3,
  },
  {
    what: 'a label on a slice',
    play: (h) =>
      h.api.patch('EndpointSlice', h.namespace, h.slice('foreign'), { metadata: { labels: { mine: 'x' } } }),
    until: async (h) => (await slices(h)).every((s) => s.metadata.labels?.['mine'] === undefined),
  },
  {
    what: 'an annotation on a slice',
    play: (h) =>
      h.api.patch('EndpointSlice', h.namespace, h.slice('foreign'), {
        metadata: { annotations: { mine: 'x' } },
      }),
  },
  { what: 'which stays when the slice is written', play: (h) => h.ready(false, 'foreign-1') },
  {
    what: 'a slice deleted',
    play: (h) => h.api.delete('EndpointSlice', h.namespace, h.slice('foreign')),
    until: async (h) => (await pods(h)) === 3,
  },
  {
    what: 'a slice of somebody else beside it',
    play: (h) =>
      h.api.create('EndpointSlice', h.namespace, {
        ...theirs,
        metadata: { name: 'theirs', labels: { [serviceName]: 'foreign', [managedBy]: 'somebody' } },
      }),
  },
  {
    what: 'a slice in the name of the controller',
    play: (h) =>
      h.api.create('EndpointSlice', h.namespace, {
        ...theirs,
        metadata: { name: 'claimed', labels: { [serviceName]: 'foreign', [managedBy]: controller } },
      }),
    until: async (h) => (await h.api.get('EndpointSlice', h.namespace, 'claimed')) === undefined,
  },
  {
    what: 'a slice without a service',
    play: (h) =>
      h.api.create('EndpointSlice', h.namespace, {
        ...theirs,
        metadata: { name: 'orphan', labels: { [managedBy]: controller } },
      }),
  },
  {
    what: 'its owners taken off a slice',
    play: (h) =>
      h.api.patch('EndpointSlice', h.namespace, h.slice('zones'), {
        metadata: { ownerReferences: null as never },
      }),
  },
  {
    what: 'it is made anew with the next change',
    play: (h) => h.patch('zones', { metadata: { labels: { team: 'maps' } } }),
  },
  {
    what: 'Endpoints edited by a user',
    deliberate: { row: 'D9', of: 'Endpoints parity/foreign' },
    play: (h) =>
      h.api.patch('Endpoints', h.namespace, 'foreign', {
        subsets: [],
        metadata: { annotations: { mine: 'x' }, labels: { mine: 'x' } },
      }),
  },
  {
    what: 'which the next change rights',
    play: (h) => h.ready(true, 'foreign-1'),
    until: (h) => h.endpoints('foreign')?.subsets?.[0]?.addresses?.length === 3,
  },
  {
    what: 'Endpoints deleted',
    play: (h) => h.api.delete('Endpoints', h.namespace, 'foreign'),
    until: (h) => h.endpoints('foreign') !== undefined,
  },
  {
    what: 'Endpoints without a service',
    play: (h) =>
      h.api.create('Endpoints', h.namespace, {
        metadata: { name: 'orphan' },
        ...byHand,
      }),
  },
  { what: 'deleted again', play: (h) => h.api.delete('Endpoints', h.namespace, 'orphan') },
  {
    what: 'Endpoints before their service',
    play: (h) =>
      h.api.create('Endpoints', h.namespace, {
        metadata: { name: 'early', annotations: { mine: 'x' } },
        ...byHand,
      }),
  },
  {
    what: 'and their service',
    play: (h) => h.service('early', { selector: labels, ports: [httpPort] }),
    until: (h) => h.endpoints('early')?.subsets?.[0]?.addresses?.length === 3,
  },
  {
    what: 'a service without a selector, and its Endpoints',
    async play(h) {
      await h.service('manual', { ports: [httpPort] });
      await h.api.create('Endpoints', h.namespace, { ...byHand, metadata: { name: 'manual' } });
    },
  },
  {
    what: 'deleted with them',
    play: (h) => h.api.delete('Service', h.namespace, 'manual'),
    until: (h) => h.endpoints('manual') === undefined,
  },
];
