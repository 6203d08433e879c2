import { httpPort } from '#test/e2e/world.ts';
import { type Hands, inSlices } from '../hands.ts';
import type { Chapter } from '../step.ts';

const labels = { app: 'life' };
const doomed = 'doomed';
const make = (h: Hands) => h.service('life', { selector: labels, ports: [httpPort] });
const unmake = (h: Hands) => h.api.delete('Service', h.namespace, 'life');

/**
 * Resolves to true if every slice belongs to the present service, after garbage collection has deleted the
 * other slices and they were replaced.
 */
async function isOwn(h: Hands): Promise<boolean> {
  const uid = (await h.api.get('Service', h.namespace, 'life'))?.metadata.uid;
  const slices = h.slices('life');
  return slices.length > 0 && slices.every((s) => s.metadata.ownerReferences?.every((o) => o.uid === uid));
}

/** Services and namespaces that are deleted and made again. */
export const lifecycle: Chapter = [
  { what: 'a service before its pods', play: make },
  {
    what: 'its pods',
    play: (h) => h.pods('life', [1, 2], { labels }),
    until: (h) => inSlices(h, 'life').length === 2,
    several: true,
  },
  {
    what: 'the service deleted',
    play: unmake,
    until: (h) => h.endpoints('life') === undefined && h.slices('life').length === 0,
  },
  { what: 'pods change meanwhile', play: (h) => h.ready(false, 'life-1') },
  { what: 'the service made again', play: make, until: isOwn },
  {
    what: 'deleted and made again at once',
    play: (h) => unmake(h).then(() => make(h)),
    until: isOwn,
    several: true,
  },
  { what: 'a pod is ready', play: (h) => h.ready(true, 'life-1') },
  {
    what: 'another namespace, with a service and a pod',
    async play({ api, since }) {
      await api.create('Namespace', '', { metadata: { name: doomed } });
      await api.create('Service', doomed, {
        metadata: { name: 'web' },
        spec: { selector: labels, ports: [httpPort] },
      });
      await api.create('Pod', doomed, {
        metadata: { name: 'web', labels },
        spec: {
          nodeName: 'node-a',
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'c', image: 'i' }],
        },
      });
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: since }];
      await api.patchStatus('Pod', doomed, 'web', {
        status: { phase: 'Running', podIP: '10.200.0.1', podIPs: [{ ip: '10.200.0.1' }], conditions },
      });
    },
    several: true,
  },
  {
    what: 'the namespace deleted',
    play: ({ api }) => api.delete('Namespace', '', doomed),
    until: async ({ api }) => (await api.get('Namespace', '', doomed)) === undefined,
  },
];
