import { httpPort } from '#test/e2e/world.ts';
import { numbers } from '../hands.ts';
import type { Chapter } from '../step.ts';

const labels = { app: 'ports' };
const port = (
  name: string,
  number: number,
  targetPort: number | string,
  more: { readonly protocol?: string; readonly appProtocol?: string } = {},
) => ({
  name,
  port: number,
  targetPort,
  protocol: 'TCP',
  ...more,
});
const ready = { name: 'web', containerPort: 8080 };
const proxy = {
  name: 'proxy',
  image: 'i',
  restartPolicy: 'Always',
  ports: [{ name: 'proxy', containerPort: 15001, protocol: 'TCP' }],
};

/** Ports and selectors of a service that has pods of several kinds. */
export const ports: Chapter = [
  {
    what: 'pods whose port has a number of its own',
    play: (h) => h.pods('old', numbers(1, 2), { labels: { ...labels, color: 'blue' }, ports: [ready] }),
  },
  {
    what: 'pods that give it another, and one without',
    async play(h) {
      const admin = { name: 'admin', containerPort: 9000 };
      await h.pods('new', numbers(1, 2), {
        labels: { ...labels, color: 'green' },
        ports: [{ name: 'web', containerPort: 8181 }, admin],
      });
      await h.pods('none', [1], { labels });
    },
  },
  { what: 'a port by number', play: (h) => h.service('ports', { selector: labels, ports: [httpPort] }) },
  { what: 'another number', play: (h) => h.patch('ports', { spec: { ports: [port('http', 80, 8081)] } }) },
  {
    what: 'a port more',
    play: (h) => h.patch('ports', { spec: { ports: [port('http', 80, 8081), port('metrics', 9100, 9100)] } }),
  },
  {
    what: 'ports by name',
    play: (h) => h.patch('ports', { spec: { ports: [port('http', 80, 'web')] } }),
    until: (h) => h.slices('ports').length === 3,
  },
  {
    what: 'two by name',
    play: (h) => h.patch('ports', { spec: { ports: [port('http', 80, 'web'), port('admin', 81, 'admin')] } }),
  },
  {
    what: 'a name that no container has',
    play: (h) => h.patch('ports', { spec: { ports: [port('http', 80, 'nothing')] } }),
  },
  {
    what: 'a name and a number',
    play: (h) =>
      h.patch('ports', {
        spec: { ports: [port('http', 80, 'web'), port('dns', 53, 5353, { protocol: 'UDP' })] },
      }),
  },
  {
    what: 'three protocols and an application protocol',
    play: (h) =>
      h.patch('ports', {
        spec: {
          ports: ['TCP', 'UDP', 'SCTP'].map((protocol) =>
            port(protocol.toLowerCase(), 53, 5353, { protocol, appProtocol: 'example.com/dns' }),
          ),
        },
      }),
  },
  {
    what: 'one port again, without a name',
    play: (h) => h.patch('ports', { spec: { ports: [{ port: 80, targetPort: 8080, protocol: 'TCP' }] } }),
  },
  {
    what: 'the selector takes in only blue',
    play: (h) => h.patch('ports', { spec: { selector: { color: 'blue' } } }),
  },
  { what: 'then only green', play: (h) => h.patch('ports', { spec: { selector: { color: 'green' } } }) },
  { what: 'there is no selector', play: (h) => h.patch('ports', { spec: { selector: null as never } }) },
  { what: 'a pod changes meanwhile', play: (h) => h.ready(false, 'new-1') },
  {
    what: 'there is a selector again',
    play: (h) => h.patch('ports', { spec: { selector: labels } }),
    until: (h) => h.slices('ports')[0]?.endpoints?.length === 5,
  },
  {
    what: 'a pod with a restartable init container',
    play: (h) => h.pods('side', [1], { labels: { app: 'side' }, spec: { initContainers: [proxy] } }),
  },
  {
    what: 'a port by its name',
    play: (h) => h.service('side', { selector: { app: 'side' }, ports: [port('http', 80, 'proxy')] }),
  },
];
