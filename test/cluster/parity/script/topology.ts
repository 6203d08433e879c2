import { httpPort } from '#test/e2e/world.ts';
import { type Hands, inSlices, numbers } from '../hands.ts';
import type { Chapter } from '../step.ts';

const labels = { app: 'zones' };
const lost = 'node-c';
const auto = (value: string | null) => ({
  metadata: { annotations: { 'service.kubernetes.io/topology-mode': value as string } },
});
const hints = (h: Hands, service: string): number => inSlices(h, service).filter((e) => e.hints).length;
const ready = (h: Hands, service: string): number =>
  inSlices(h, service).filter((e) => e.conditions?.ready).length;
const onLost = (h: Hands, service: string): number =>
  inSlices(h, service).filter((e) => e.nodeName === lost).length;

const node = (h: Hands, name: string, zone: string) =>
  h.api.create('Node', '', {
    metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
    status: { allocatable: { cpu: '4' }, conditions: [{ type: 'Ready', status: 'True' }] },
  });
const nodeReady = (h: Hands, name: string, ready: boolean) =>
  h.api.patchStatus('Node', '', name, {
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  });

/** Zones, hints, and nodes that go and come back. */
export const topology: Chapter = [
  {
    what: 'a third node, and pods on all three',
    async play(h) {
      await node(h, lost, 'zone-c');
      for (const [i, name] of ['node-a', 'node-b', lost].entries())
        await h.pods('zones', numbers(2 * i + 1, 2 * i + 2), { labels, node: name });
    },
  },
  { what: 'a service', play: (h) => h.service('zones', { selector: labels, ports: [httpPort] }) },
  {
    what: 'traffic prefers what is close',
    play: (h) => h.patch('zones', { spec: { trafficDistribution: 'PreferClose' } }),
    until: (h) => hints(h, 'zones') === 6,
  },
  {
    what: 'the same zone',
    play: (h) => h.patch('zones', { spec: { trafficDistribution: 'PreferSameZone' } }),
  },
  {
    what: 'the same node',
    play: (h) => h.patch('zones', { spec: { trafficDistribution: 'PreferSameNode' } }),
  },
  { what: 'a pod of it is not ready', play: (h) => h.ready(false, 'zones-1') },
  {
    what: 'nothing',
    play: (h) => h.patch('zones', { spec: { trafficDistribution: null as never } }),
    until: (h) => hints(h, 'zones') === 0,
  },
  { what: 'the pod is ready', play: (h) => h.ready(true, 'zones-1') },
  {
    what: 'a service with hints by itself',
    play: (h) => h.service('auto', { selector: labels, ports: [httpPort] }, auto('Auto').metadata),
    until: (h) => hints(h, 'auto') === 6,
  },
  { what: 'a pod more', play: (h) => h.pods('zones', [7], { labels, node: 'node-a' }) },
  { what: 'a pod less', play: (h) => h.removePod('zones-6') },
  {
    what: 'fewer ready pods than zones',
    play: (h) => h.ready(false, ...numbers(1, 4).map((n) => `zones-${n}`)),
    until: (h) => hints(h, 'auto') === 0 && ready(h, 'zones') === 2 && ready(h, 'auto') === 2,
    several: true,
  },
  {
    what: 'ready again',
    play: (h) => h.ready(true, ...numbers(1, 4).map((n) => `zones-${n}`)),
    until: (h) => ready(h, 'zones') === 6 && ready(h, 'auto') === 6,
    several: true,
  },
  { what: 'hints off', play: (h) => h.patch('auto', auto(null)), until: (h) => hints(h, 'auto') === 0 },
  {
    what: 'the annotation before the traffic distribution',
    play: (h) => h.patch('auto', { ...auto('Auto'), spec: { trafficDistribution: 'PreferClose' } }),
  },
  {
    what: 'a service that publishes unready addresses',
    play: (h) => h.service('always', { selector: labels, publishNotReadyAddresses: true, ports: [httpPort] }),
  },
  { what: 'a node that is not ready', play: (h) => nodeReady(h, lost, false) },
  { what: 'it is ready', play: (h) => nodeReady(h, lost, true) },
  {
    what: 'it is moved to another zone',
    play: (h) =>
      h.api.patch('Node', '', lost, { metadata: { labels: { 'topology.kubernetes.io/zone': 'zone-d' } } }),
  },
  {
    what: 'its pod tells',
    play: (h) => h.ready(false, 'zones-5'),
    until: (h) => inSlices(h, 'zones').some((e) => e.zone === 'zone-d'),
  },
  { what: 'the node is gone, its pods stay', play: (h) => h.api.delete('Node', '', lost) },
  {
    what: 'its pod is ready',
    play: (h) => h.ready(true, 'zones-5'),
    until: (h) => onLost(h, 'zones') === 0 && onLost(h, 'always') === 1,
    failing: true,
  },
  {
    what: 'the node is back',
    play: (h) => node(h, lost, 'zone-c'),
    until: (h) => onLost(h, 'zones') === 1 && onLost(h, 'auto') === 1,
  },
  { what: 'pods move to it', play: (h) => h.pods('zones', [8], { labels, node: lost }) },
];
