/** Faults that people reported in public, each as a namespace, and what the first lines say of it. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type CauseCode, causeCodes } from '#infra/cli/ask/answer/cause.ts';
import { type Reach, reaches } from '#infra/cli/ask/answer/reach.ts';
import {
  annotationSelector,
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
} from '#shared/kube/names.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import { node, slice } from '#test/unit/shared/controllers/slices/fixtures.ts';
import {
  ask,
  condition,
  container,
  containerStatus,
  event,
  notReady,
  type Parts,
  pod,
  told,
  web,
  written,
} from './world.ts';

interface Fault extends Parts {
  readonly reach: Reach;
  /** The codes of the causes, notes apart, in their order. */
  readonly causes: readonly CauseCode[];
  readonly says: readonly RegExp[];
}

const waiting = (reason: string, message = ''): object => ({ state: { waiting: { reason, message } } });
const byHand = (
  more: Partial<EndpointSlice> = {},
  labels: { readonly [key: string]: string } = {},
): EndpointSlice =>
  slice('web-hand', [{ addresses: ['192.0.2.7'], conditions: { ready: true } }], {
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    ...more,
    metadata: {
      namespace: 'shop',
      labels: { [labelServiceName]: 'web', [labelSliceManagedBy]: 'staff', ...labels },
      ownerReferences: [],
    },
  });
const noSelector = web({ selector: undefined });
const workload = (replicas: number, more: object = {}) => ({
  kind: 'Deployment' as const,
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
  replicas,
  templateLabels: { app: 'web' },
  conditions: [],
  ...more,
});

const faults: { readonly [title: string]: Fault } = {
  'everything is well': {
    pods: [pod('a'), pod('b')],
    reach: 'Reachable',
    causes: [],
    says: [/^Reachable: 2 of 2 pods can be reached; its slices are up to date$/],
  },
  'a value of the selector with a slip of the keyboard': {
    service: web({ selector: { app: 'wbe' } }),
    pods: [pod('a')],
    reach: 'Unreachable',
    causes: ['SelectorMismatch'],
    says: [/asks for app=wbe, and pod a has app=web/],
  },
  'a value in another case': {
    service: web({ selector: { app: 'Web' } }),
    pods: [pod('a')],
    reach: 'Unreachable',
    causes: ['SelectorMismatch'],
    says: [/app=web, which differs in upper and lower case/],
  },
  'another key with the same value': {
    service: web({ selector: { 'app.kubernetes.io/name': 'web' } }),
    pods: [pod('a')],
    reach: 'Unreachable',
    causes: ['SelectorMismatch'],
    says: [/no label app.kubernetes.io\/name, but app=web/],
  },
  'nothing that is alike': {
    service: web({ selector: { app: 'checkout' } }),
    pods: [pod('a'), pod('b', { labels: { app: 'cart' } })],
    reach: 'Unreachable',
    causes: ['SelectorMismatch'],
    says: [/none of the 2 pods.*have app=web, app=cart/],
  },
  'a set-based selector of which no pod meets every requirement': {
    service: web(
      { selector: undefined },
      { annotations: { [annotationSelector]: 'app in (web, edge), !canary, tier' } },
    ),
    pods: [pod('a', { labels: { app: 'web', canary: '' } }), pod('b', { labels: { app: 'cart' } })],
    reach: 'Unreachable',
    causes: ['SelectorMismatch'],
    says: [
      /app in \(edge,web\),!canary,tier matches none of the 2 pods/,
      /app in \(edge,web\) is met by 1 of them; !canary is met by 1 of them; no pod has a label tier/,
    ],
  },
  'the label is on the Deployment alone': {
    pods: [],
    around: { workloads: [workload(2, { templateLabels: { tier: 'web' } })] },
    reach: 'Unreachable',
    causes: ['SelectorMismatch'],
    says: [
      /Deployment web has the label app=web itself, and its pod template has not: its pods have tier=web/,
    ],
  },
  'pods of another namespace': {
    pods: [],
    around: { podsElsewhere: [pod('x', { metadata: { namespace: 'stage' } })] },
    reach: 'Unreachable',
    causes: ['OtherNamespace'],
    says: [/pods of namespace stage/],
  },
  'a workload of no replicas': {
    around: { workloads: [workload(0)] },
    reach: 'NoEndpointsWanted',
    causes: [],
    says: [/Deployment web is scaled to 0 replicas/],
  },
  'pods that a quota refuses': {
    around: {
      workloads: [
        workload(2),
        workload(2, {
          kind: 'ReplicaSet',
          metadata: { name: 'web-5', ownerReferences: [{ kind: 'Deployment', name: 'web' }] },
        }),
      ],
      events: [
        event('ReplicaSet', 'web-5', 'FailedCreate', 'pods "web-5-x" is forbidden: exceeded quota: small'),
      ],
    },
    reach: 'Unreachable',
    causes: ['PodsRefused'],
    says: [/none is created: .*exceeded quota: small/],
  },
  'a named port that no container has': {
    service: web({ ports: [{ name: 'http', port: 80, targetPort: 'htpp', protocol: 'TCP' }] }),
    pods: [pod('a')],
    reach: 'Unreachable',
    causes: ['NoMatchingPort'],
    says: [
      /^Unreachable: 0 of 1 pod can be reached/,
      /no container has a port named htpp\/TCP.*there is http 8080\/TCP/,
    ],
  },
  'a named port that some pods lack': {
    service: web({ ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }] }),
    pods: [pod('a'), pod('b', { spec: { containers: [container({ ports: [] })] } })],
    reach: 'PartlyReachable',
    causes: ['NoMatchingPort'],
    says: [/pod b: no container has a port named http\/TCP/],
  },
  'a numbered port that no container declares': {
    service: web({ ports: [{ name: 'http', port: 80, targetPort: 9999, protocol: 'TCP' }] }),
    pods: [pod('a')],
    reach: 'Reachable',
    causes: ['PortNotDeclared'],
    says: [/no container declares port 9999\/TCP.*there is http 8080\/TCP/],
  },
  'a port that one of two Service ports lacks': {
    service: web({
      ports: [
        { name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' },
        { name: 'metrics', port: 9100, targetPort: 'metrics', protocol: 'TCP' },
      ],
    }),
    pods: [pod('a')],
    reach: 'PartlyReachable',
    causes: ['NoMatchingPort'],
    says: [/port metrics \(9100\) has no endpoint/],
  },
  'a crash loop by lack of memory': {
    pods: [
      pod('a', {
        status: notReady({
          ...waiting('CrashLoopBackOff'),
          restartCount: 7,
          lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
        }),
      }),
    ],
    reach: 'Unreachable',
    causes: ['ContainerWaiting'],
    says: [
      /pod a: container web crashes \(CrashLoopBackOff, 7 restarts, last exit code 137 \(OOMKilled\)\)/,
      /logs -n shop a -c web --previous/,
    ],
  },
  'an image that cannot be pulled': {
    pods: [pod('a', { status: notReady(waiting('ImagePullBackOff', 'Back-off pulling image "web:nope"')) })],
    reach: 'Unreachable',
    causes: ['ContainerWaiting'],
    says: [/container web has no image \(ImagePullBackOff\).*web:nope/],
  },
  'a ConfigMap that is missing': {
    pods: [
      pod('a', { status: notReady(waiting('CreateContainerConfigError', 'configmap "web" not found')) }),
    ],
    reach: 'Unreachable',
    causes: ['ContainerWaiting'],
    says: [/CreateContainerConfigError\): configmap "web" not found/],
  },
  'a volume that cannot be mounted': {
    pods: [pod('a', { status: { ...notReady(waiting('ContainerCreating')), podIPs: [] } as never })],
    around: { events: [event('Pod', 'a', 'FailedMount', 'secret "tls" not found')] },
    reach: 'Unreachable',
    causes: ['ContainerWaiting'],
    says: [/ContainerCreating\): FailedMount, secret "tls" not found/],
  },
  'a readiness probe that fails': {
    pods: [
      pod('a', {
        spec: { containers: [container({ readinessProbe: { tcpSocket: { port: 8081 } } })] },
        status: notReady({}),
      }),
      pod('b'),
    ],
    around: {
      events: [event('Pod', 'a', 'Unhealthy', 'Readiness probe failed: dial tcp: connection refused')],
    },
    reach: 'PartlyReachable',
    causes: ['ReadinessProbe'],
    says: [
      /1 of 2 pods/,
      /readiness probe of container web fails.*connection refused/,
      /connects to port 8081/,
    ],
  },
  'a startup probe that has not succeeded': {
    pods: [
      pod('a', {
        spec: { containers: [container({ startupProbe: { exec: { command: ['true'] } } })] },
        status: notReady({ started: false }),
      }),
    ],
    reach: 'Unreachable',
    causes: ['StartupProbe'],
    says: [/startup probe of container web has not succeeded/],
  },
  'a sidecar that is not ready': {
    pods: [
      pod('a', {
        spec: { containers: [container()], initContainers: [{ name: 'proxy', restartPolicy: 'Always' }] },
        status: {
          ...notReady({ ready: true }),
          initContainerStatuses: [containerStatus({ name: 'proxy', ready: false })],
        },
      }),
    ],
    reach: 'Unreachable',
    causes: ['NotReady'],
    says: [/sidecar container proxy runs and is not ready/],
  },
  'an init container that fails': {
    pods: [
      pod('a', {
        spec: { containers: [container()], initContainers: [{ name: 'migrate' }, { name: 'later' }] },
        status: {
          ...notReady(waiting('PodInitializing')),
          initContainerStatuses: [
            containerStatus({ name: 'migrate', ready: false, ...waiting('CrashLoopBackOff') }),
            containerStatus({ name: 'later', ready: false, ...waiting('PodInitializing') }),
          ],
        },
      }),
    ],
    reach: 'Unreachable',
    causes: ['InitContainer'],
    says: [/init container migrate crashes/],
  },
  'a readiness gate that is false': {
    pods: [
      pod('a', {
        spec: { containers: [container()], readinessGates: [{ conditionType: 'lb/ready' }] },
        status: {
          conditions: [condition('Ready', 'False'), condition('lb/ready', 'False', { reason: 'Unhealthy' })],
        },
      }),
    ],
    reach: 'Unreachable',
    causes: ['ReadinessGate'],
    says: [/readiness gate lb\/ready is False \(Unhealthy\)/],
  },
  'a node that does not report': {
    pods: [pod('a', { status: notReady({ ready: true }) })],
    nodes: [
      {
        metadata: { name: 'node-1' },
        status: {
          conditions: [condition('Ready', 'Unknown', { message: 'Kubelet stopped posting node status.' })],
        },
      } as never,
    ],
    reach: 'Unreachable',
    causes: ['NodeNotReady'],
    says: [/node node-1 does not report.*Kubelet stopped posting/],
  },
  'a node that does not exist': {
    pods: [pod('a')],
    nodes: [],
    reach: 'Unreachable',
    causes: ['NodeUnknown'],
    says: [/its node node-1 does not exist/],
  },
  'a volume claim that is pending': {
    pods: [
      pod('a', {
        spec: { nodeName: '', containers: [container()] },
        status: {
          phase: 'Pending',
          podIP: undefined,
          podIPs: [],
          containerStatuses: [],
          conditions: [
            condition('PodScheduled', 'False', {
              reason: 'Unschedulable',
              message: 'pod has unbound immediate PersistentVolumeClaims',
            }),
          ],
        },
      }),
    ],
    reach: 'Unreachable',
    causes: ['Unschedulable'],
    says: [/cannot be scheduled \(Unschedulable\): pod has unbound immediate PersistentVolumeClaims/],
  },
  'a Job that has completed': {
    pods: [
      pod('a', {
        status: { phase: 'Succeeded' },
        metadata: { ownerReferences: [{ kind: 'Job', name: 'once' }] as never },
      }),
    ],
    reach: 'Unreachable',
    causes: [],
    says: [/each of its pods is ending or has ended/, /completed, phase Succeeded: it is a pod of Job once/],
  },
  'not ready and published': {
    service: web({ publishNotReadyAddresses: true }),
    pods: [pod('a', { status: notReady(waiting('CrashLoopBackOff')) })],
    reach: 'Reachable',
    causes: ['PublishedNotReady'],
    says: [/listed as ready by publishNotReadyAddresses: container web crashes/],
  },
  'a family that the pods lack': {
    service: web({ ipFamilies: ['IPv4', 'IPv6'] }),
    pods: [pod('a')],
    reach: 'Reachable',
    causes: ['NoAddressOfFamily'],
    says: [/no IPv6 address, only IPv4, and the Service is IPv4 and IPv6/],
  },
  'two pods with one address': {
    pods: [
      pod('a', { status: { podIP: '10.9.9.9', podIPs: [{ ip: '10.9.9.9' }] } }),
      pod('b', { status: { podIP: '10.9.9.9', podIPs: [{ ip: '10.9.9.9' }] } }),
    ],
    reach: 'Reachable',
    causes: ['SharedAddress'],
    says: [/pods a, b share the address 10.9.9.9/],
  },
  'an ExternalName to an address': {
    service: web({ type: 'ExternalName', externalName: '10.0.0.9', selector: undefined }),
    reach: 'NoEndpointsWanted',
    causes: ['ExternalName'],
    says: [/never has endpoints; an IP address is no name/],
  },
  'no selector and nothing by hand': {
    service: noSelector,
    reach: 'Unreachable',
    causes: ['NoSelector'],
    says: [/neither an EndpointSlice nor Endpoints of its name/],
  },
  'a slice by hand': {
    service: noSelector,
    more: [byHand()],
    reach: 'Reachable',
    causes: [],
    says: [/^Reachable: 1 address is served$/],
  },
  'a slice by hand without the condition ready': {
    service: noSelector,
    more: [byHand({ endpoints: [{ addresses: ['192.0.2.7'] }] })],
    reach: 'Reachable',
    causes: [],
    says: [/1 address is served/],
  },
  'a slice by hand with another port name': {
    service: noSelector,
    more: [byHand({ ports: [{ name: 'web', port: 8080, protocol: 'TCP' }] })],
    reach: 'Unreachable',
    causes: ['PortNames'],
    says: [/port is named http, and the port of its endpoints web: proxies match ports by name/],
  },
  'a slice by hand of type FQDN': {
    service: noSelector,
    more: [byHand({ addressType: 'FQDN', endpoints: [{ addresses: ['db.example'] }] })],
    reach: 'Unreachable',
    causes: ['NoAddressOfFamily'],
    says: [/proxies ignore FQDN/],
  },
  'a slice by hand with the name of another Service': {
    service: noSelector,
    around: { services: [noSelector], otherSlices: [byHand({}, { [labelServiceName]: 'wbe' })] },
    reach: 'Unreachable',
    causes: ['SliceWithoutService'],
    says: [/has the label kubernetes.io\/service-name=wbe, and there is no Service wbe/],
  },
  'Endpoints that are not to be mirrored': {
    service: noSelector,
    served: {
      slices: [],
      endpoints: {
        metadata: {
          name: 'web',
          namespace: 'shop',
          labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
        },
        subsets: [{ addresses: [{ ip: '192.0.2.7' }] }],
      },
    },
    reach: 'Unreachable',
    causes: ['NotMirrored'],
    says: [/skip-mirror=true forbids it/],
  },
  'a slice of another manager': {
    pods: [pod('a')],
    more: [byHand()],
    reach: 'Reachable',
    causes: ['OtherManager'],
    says: [/EndpointSlice web-hand of another manager, staff, is served too: 192.0.2.7 is no pod/],
  },
  'a slice of a hub that has left': {
    pods: [pod('a')],
    more: [byHand({}, { [labelSliceManagedBy]: optInManagedBy })],
    reach: 'Reachable',
    causes: ['OtherManager'],
    says: [/of another manager, opt-in.fleet-endpoints/],
  },
  'a load balancer without an address': {
    service: web({ type: 'LoadBalancer' }),
    pods: [pod('a')],
    reach: 'Reachable',
    causes: ['LoadBalancer'],
    says: [/load balancer is pending: it has no address yet/],
  },
  'internalTrafficPolicy Local': {
    service: web({ internalTrafficPolicy: 'Local' }),
    pods: [pod('a')],
    nodes: [node('node-1', 'zone-a'), node('node-2', 'zone-a')],
    around: { isEveryNode: true },
    reach: 'Reachable',
    causes: ['TrafficPolicy'],
    says: [/internalTrafficPolicy Local.*ready endpoint: node-1 \(1 others have none\)/],
  },
  'a NetworkPolicy that lets nothing in': {
    pods: [pod('a')],
    around: { networkPolicies: [{ name: 'deny', podSelector: {}, ingress: [] }] },
    reach: 'Reachable',
    causes: ['NetworkPolicy'],
    says: [/NetworkPolicy deny .*lets in nothing on port 8080/],
  },
  'a namespace that is being deleted': {
    pods: [pod('a')],
    around: { namespace: { metadata: { name: 'shop', deletionTimestamp: '2026-03-01T09:30:00Z' } } as never },
    reach: 'Reachable',
    causes: ['NamespaceDeleted'],
    says: [/namespace shop is being deleted/],
  },
  'a Service of another name': {
    service: undefined,
    around: { services: [web({}, { name: 'web2' })] },
    reach: 'Unreachable',
    causes: ['ServiceMissing'],
    says: [/no Service web in namespace shop; there is web2/],
  },
};

describe('the first lines of an answer', () => {
  it.each(Object.entries(faults))('%s', (_, { reach, causes, says, ...parts }) => {
    const answer = ask(parts);
    const lines = told(answer);
    expect({
      reach: answer.reach,
      causes: answer.causes.filter((c) => c.weight !== 'note').map((c) => c.code),
    }).toEqual({ reach, causes });
    for (const pattern of says)
      expect(
        lines.some((line) => pattern.test(line)),
        `${pattern} in\n${lines.join('\n')}`,
      ).toBe(true);
  });
});

describe('what is served and is not what the controllers want', () => {
  const nodes = new Map([['node-1', node('node-1', 'zone-a')]]);

  it('a pod that is gone and one that is missing are named, and that nobody writes', () => {
    const answer = ask({ pods: [pod('b'), pod('c')], served: written(web(), [pod('a'), pod('b')], nodes) });
    expect(answer).toMatchObject({ reach: 'PartlyReachable', currency: 'Differs', live: 2, reachable: 1 });
    expect(told(answer)[1]).toMatch(
      /c is ready and not listed; a is gone .*still listed: the endpoint controllers have not updated it for 60 min/,
    );
  });

  it('a change of a second ago may be about to be written', () => {
    const fresh = pod('c', { metadata: { creationTimestamp: '2026-03-01T09:59:59Z' } });
    const answer = ask({ pods: [pod('a'), fresh], served: written(web(), [pod('a')], nodes) });
    expect(answer.currency).toBe('Waits');
    expect(told(answer).join()).toMatch(/1 s ago, and the controllers may be about to write it/);
  });

  it('the API server’s refusal is the cause', () => {
    const events = [
      event('Service', 'web', 'FailedToUpdateEndpointSlices', 'Error updating: denied by policy'),
    ];
    const answer = ask({
      pods: [pod('a')],
      served: { endpoints: undefined, slices: [] },
      around: { events },
    });
    expect(answer.causes.map((c) => c.code)).toEqual(['Refused']);
    expect(told(answer)[1]).toMatch(/refuses the write: Error updating: denied by policy/);
  });

  it('endpoints on the former port are not up to date', () => {
    const before = web({ ports: [{ name: 'http', port: 80, targetPort: 7070, protocol: 'TCP' }] });
    const answer = ask({ pods: [pod('a')], served: written(before, [pod('a')], nodes) });
    expect(answer).toMatchObject({ reach: 'Reachable', currency: 'Differs' });
    expect(told(answer)[1]).toMatch(/a is listed on the former ports/);
  });

  it('leftovers of a removed selector are told with the pods that are gone', () => {
    const answer = ask({
      service: noSelector,
      pods: [pod('b')],
      served: written(web(), [pod('a'), pod('b')], nodes),
    });
    expect(answer.reach).toBe('PartlyReachable');
    expect(told(answer).join('\n')).toMatch(
      /no selector \(any more\).*left over \(web-0\).*no longer updated; a is a pod that is gone/,
    );
  });
});

it('docs/use/why-not-an-endpoint.md explains every code', () => {
  const page = readFileSync('docs/use/why-not-an-endpoint.md', 'utf8');
  expect([...causeCodes, ...reaches].filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});

it('a pod that is gone is not reachable, whichever manager’s slice still lists it', () => {
  const endpoint = (name: string) => ({
    ...{ addresses: ['10.1.0.9'], conditions: { ready: true } },
    targetRef: { kind: 'Pod', namespace: 'shop', name, uid: `uid-${name}` },
  });
  const left = byHand({ endpoints: [endpoint('gone')] });
  const { reachablePods } = ask({ pods: [pod('web-1')], more: [left] });
  expect([...reachablePods]).toEqual(['web-1']);
});

it('pods of a headless Service without a DNS name of their own are named with the subdomain that they have', () => {
  const headless = web({ clusterIP: 'None' });
  const named = (name: string, subdomain: string): ReturnType<typeof pod> =>
    pod(name, { spec: { hostname: name, subdomain } });
  const pods = [named('web-0', 'web'), named('web-1', 'db')];
  const answer = ask({ service: headless, pods });
  expect(answer.reach).toBe('Reachable');
  expect(answer.causes.map(({ code, pods }) => [code, pods])).toEqual([['NoHostname', ['web-1']]]);
  expect(told(answer).join('\n')).toContain(
    'web-1 has no DNS name of web, as web-1.web: the subdomain is db',
  );
  // The names of a StatefulSet's other Service are wanted by nobody.
  expect(ask({ service: web(), pods }).causes).toEqual([]);
});

it('the name of an ExternalName is told where it is known, and by the hub, which does not read it, nothing of it', () => {
  const alias = web({ type: 'ExternalName', externalName: 'x.example', selector: undefined });
  const textOf = (service: Service, isProjected: boolean): string | undefined =>
    ask({ service, around: { isProjected } }).causes[0]?.text;
  expect(textOf(alias, false)).toContain('a DNS alias for x.example, which never has endpoints');
  const { externalName: _, ...spec } = alias.spec ?? {};
  expect(textOf({ ...alias, spec }, true)).toBe(
    'it is an ExternalName: a DNS alias, which never has endpoints',
  );
});
