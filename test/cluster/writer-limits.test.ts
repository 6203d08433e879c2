/**
 * The limits of the writer's credentials on a real API server: tries to bypass the manifest's RBAC and
 * admission policies.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventRecorder } from '#functions/sync/aftermath/kube-events.ts';
import { writerGroup } from '#infra/relay/relay-names.ts';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { httpsClusterApi } from '#shared/clusters/api/https.ts';
import { type HttpTransport, httpTransport } from '#shared/clusters/api/transport.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { type Api, connectApi } from '#test/e2e/api.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { applyAccess, writerConnection } from '#test/support/relay-install.ts';

const managedBy = 'endpointslice.kubernetes.io/managed-by';
const serviceName = 'kubernetes.io/service-name';
const sliceLabels = (service: string) => ({
  [serviceName]: service,
  [managedBy]: 'endpointslice-controller.k8s.io',
});
const endpointsLabels = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
const leader = { 'control-plane.alpha.kubernetes.io/leader': '{"holderIdentity":"me"}' };
const elsewhere = '203.0.113.66';

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes objects, right and wrong ones
type Body = any;

const slicesOf = (namespace: string, name = '') =>
  `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices${name && `/${name}`}`;
const endpointsOf = (namespace: string, name = '') =>
  `/api/v1/namespaces/${namespace}/endpoints${name && `/${name}`}`;
const eventsOf = (namespace: string, name = '') =>
  `/api/v1/namespaces/${namespace}/events${name && `/${name}`}`;

let controlPlane: ControlPlane;
let admin: Api;
let root: HttpTransport;
let writer: HttpTransport;
let connection: Connection;
/** UIDs of Services as "namespace/name". */
const uids = new Map<string, string>();

interface Answer {
  readonly status: number;
  readonly body: Body;
}
/** Of a patch it says how the body is meant: merged, or with a manager of fields applied. */
function contentTypeOf(method: string, path: string): string {
  if (method !== 'PATCH') return 'application/json';
  return `application/${path.includes('fieldManager=') ? 'apply-patch+yaml' : 'merge-patch+json'}`;
}

async function call(as: HttpTransport, method: string, path: string, body?: Body): Promise<Answer> {
  const answer = await as.request(method, path, {
    ...(body && { body: JSON.stringify(body), contentType: contentTypeOf(method, path) }),
  });
  return { status: answer.status, body: JSON.parse(answer.body.toString()) };
}
async function made(method: string, path: string, body: Body): Promise<Body> {
  const answer = await call(root, method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.message}`);
  return answer.body;
}

const podIn = (namespace: string) => ({ targetRef: { kind: 'Pod', namespace, name: 'pod', uid: 'u' } });
const owner = (namespace: string, name: string, kind = 'Service') => ({
  apiVersion: 'v1',
  kind,
  name,
  uid: uids.get(`${namespace}/${name}`) ?? 'b7f1a0de-0000-4000-8000-000000000000',
  controller: true,
  blockOwnerDeletion: true,
});
/** As the EndpointSlice controller writes one; `over` is what is wrong with it. */
const slice = (namespace: string, service: string, { metadata = {}, ...over }: Body = {}): Body => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    generateName: `${service}-`,
    namespace,
    labels: sliceLabels(service),
    ownerReferences: [owner(namespace, service)],
    ...metadata,
  },
  addressType: 'IPv4',
  endpoints: [{ addresses: [elsewhere], conditions: { ready: true }, ...podIn(namespace) }],
  ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
  ...over,
});
const endpoints = (
  namespace: string,
  name: string,
  { metadata = {}, ref = podIn(namespace), ...over }: Body = {},
): Body => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name, namespace, labels: endpointsLabels, ...metadata },
  subsets: [{ addresses: [{ ip: elsewhere, ...ref }], ports: [{ port: 80 }] }],
  ...over,
});
const event = (
  namespace: string,
  component: string,
  about: Body = { kind: 'Service', namespace, name: 'web' },
  more: Body = {},
): Body => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { generateName: 'an-event-', namespace },
  involvedObject: about,
  source: { component },
  reportingComponent: component,
  type: 'Warning',
  reason: 'FailedToUpdateEndpoint',
  message: 'a message',
  ...more,
});
/** Returns an existing object as the writer would send it to take it over. */
const taken = (held: Body, over: Body): Body => ({
  ...held,
  ...over,
  metadata: {
    ...held.metadata,
    ...over.metadata,
    labels: { ...held.metadata.labels, ...over.metadata?.labels },
  },
});
const ofPod = (namespace: string) => [
  { addresses: [elsewhere], conditions: { ready: true }, ...podIn(namespace) },
];

beforeAll(async () => {
  controlPlane = await startControlPlane();
  admin = connectApi(controlPlane.connection);
  root = httpTransport(controlPlane.connection);
  await applyAccess(controlPlane);
  connection = await writerConnection(controlPlane);
  writer = httpTransport(connection);

  await admin.create('Namespace', '', { metadata: { name: 'shop' } });
  const ports = [{ port: 80 }];
  const services: readonly [string, string, Body][] = [
    ['shop', 'web', { selector: { app: 'web' }, ports }],
    ['shop', 'other', { selector: { app: 'other' }, ports }],
    ['shop', 'db', { ports }],
    ['kube-system', 'dns', { selector: { app: 'dns' }, ports }],
  ];
  for (const [namespace, name, spec] of services) {
    const labels = name === 'db' ? { 'fleet-endpoints/protected': 'true' } : {};
    uids.set(
      `${namespace}/${name}`,
      (await admin.create('Service', namespace, { metadata: { name, labels }, spec })).metadata.uid ?? '',
    );
  }
  uids.set('default/kubernetes', (await admin.get('Service', 'default', 'kubernetes'))?.metadata.uid ?? '');

  // Somebody else's, each of a kind.
  await made(
    'POST',
    slicesOf('default'),
    slice('default', 'kubernetes', {
      metadata: {
        name: 'kubernetes',
        generateName: undefined,
        labels: { [serviceName]: 'kubernetes' },
        ownerReferences: undefined,
      },
      endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
    }),
  );
  await made(
    'POST',
    endpointsOf('default'),
    endpoints('default', 'kubernetes', { metadata: { labels: {} }, ref: {} }),
  );
  for (const [name, manager] of [
    ['by-staff', 'staff'],
    ['mirrored', 'endpointslicemirroring-controller.k8s.io'],
  ] as const)
    await made(
      'POST',
      slicesOf('shop'),
      slice('shop', 'db', {
        metadata: { name, labels: { [serviceName]: 'db', [managedBy]: manager }, ownerReferences: undefined },
        endpoints: [{ addresses: ['192.0.2.2'] }],
      }),
    );
  await made('POST', endpointsOf('shop'), endpoints('shop', 'db', { metadata: { labels: {} }, ref: {} }));
  await made(
    'POST',
    endpointsOf('shop'),
    endpoints('shop', 'by-staff', {
      metadata: { labels: { 'endpoints.kubernetes.io/managed-by': 'staff' } },
    }),
  );
  await made(
    'POST',
    endpointsOf('shop'),
    endpoints('shop', 'lock', { metadata: { labels: {}, annotations: leader }, subsets: [] }),
  );
  await made(
    'POST',
    eventsOf('shop'),
    event('shop', 'kubelet', undefined, { metadata: { name: 'of-the-kubelet', namespace: 'shop' } }),
  );
  // Ours.
  await made('POST', slicesOf('shop'), slice('shop', 'web', { metadata: { name: 'ours' } }));
  await made('POST', endpointsOf('shop'), endpoints('shop', 'web'));

  // Policies are compiled some time after they were made: each must have refused something.
  const refused = async (path: string, body: Body): Promise<void> =>
    expect(await call(writer, 'POST', path, body)).toMatchObject({ status: 422 });
  const options = { timeout: 30_000, interval: 200 };
  const probes: readonly (() => Promise<void>)[] = [
    () => refused(`${slicesOf('shop')}?dryRun=All`, slice('shop', 'web', { metadata: { labels: {} } })),
    () =>
      refused(
        `${endpointsOf('shop')}?dryRun=All`,
        endpoints('shop', 'a-probe', { metadata: { labels: {} } }),
      ),
    () => refused(`${eventsOf('shop')}?dryRun=All`, event('shop', 'kubelet')),
    () => refused(`${slicesOf('shop')}?dryRun=All`, slice('shop', 'db')),
  ];
  for (const probe of probes) await vi.waitFor(probe, options);
}, 60_000);

afterAll(async () => {
  for (const open of [admin, root, writer]) open?.close();
  await controlPlane?.stop();
});

/** Everything that the writer might have changed. */
async function everything(): Promise<readonly string[]> {
  const lists = await Promise.all(
    ['/apis/discovery.k8s.io/v1/endpointslices', '/api/v1/endpoints', '/api/v1/events'].map(
      async (path) => (await call(root, 'GET', path)).body.items,
    ),
  );
  return lists
    .flat()
    .map(
      (o: Body) =>
        `${o.metadata.namespace}/${o.metadata.name} ${o.metadata.uid} ${o.metadata.resourceVersion}`,
    )
    .sort();
}

type Attempt = readonly [what: string, method: string, path: string, body?: object | ((held: Body) => Body)];
const own = slicesOf('shop', 'ours');
const attempts: readonly (() => Attempt)[] = [
  // Slices
  () => [
    'a slice without our label',
    'POST',
    slicesOf('shop'),
    slice('shop', 'web', { metadata: { labels: { [serviceName]: 'web' } } }),
  ],
  () => [
    'a slice that points at no pod',
    'POST',
    slicesOf('shop'),
    slice('shop', 'web', { endpoints: [{ addresses: [elsewhere] }] }),
  ],
  () => [
    'a slice that points at a pod of another namespace',
    'POST',
    slicesOf('shop'),
    slice('shop', 'web', { endpoints: ofPod('kube-system') }),
  ],
  () => [
    'a slice of which one endpoint of two is no pod',
    'POST',
    slicesOf('shop'),
    slice('shop', 'web', { endpoints: [...ofPod('shop'), { addresses: [elsewhere] }] }),
  ],
  () => [
    'a slice of names instead of addresses',
    'POST',
    slicesOf('shop'),
    slice('shop', 'web', {
      addressType: 'FQDN',
      endpoints: [{ addresses: ['example.com'], ...podIn('shop') }],
    }),
  ],
  () => [
    'a slice that no Service owns',
    'POST',
    slicesOf('shop'),
    slice('shop', 'db', { metadata: { ownerReferences: undefined } }),
  ],
  () => [
    'a slice of one Service that is labelled for another',
    'POST',
    slicesOf('shop'),
    slice('shop', 'web', { metadata: { ownerReferences: [owner('shop', 'other')] } }),
  ],
  () => [
    'a slice that something else owns',
    'POST',
    slicesOf('shop'),
    slice('shop', 'web', { metadata: { ownerReferences: [owner('shop', 'web', 'Pod')] } }),
  ],
  () => [
    'a slice with a second owner, whose deletion it would hold up',
    'POST',
    slicesOf('shop'),
    slice('shop', 'web', {
      metadata: {
        ownerReferences: [owner('shop', 'web'), { ...owner('shop', 'x', 'ConfigMap'), controller: false }],
      },
    }),
  ],
  () => [
    'a slice of a Service that is protected, owner and all',
    'POST',
    slicesOf('shop'),
    slice('shop', 'db'),
  ],
  () => [
    'a second slice of default/kubernetes, by a generated name',
    'POST',
    slicesOf('default'),
    slice('default', 'kubernetes'),
  ],
  () => [
    'a second slice of default/kubernetes, by a name of its own',
    'POST',
    slicesOf('default'),
    slice('default', 'kubernetes', { metadata: { name: 'harmless' } }),
  ],
  () => [
    "the API server's own slice",
    'PUT',
    slicesOf('default', 'kubernetes'),
    (held) =>
      taken(held, {
        metadata: { labels: sliceLabels('kubernetes'), ownerReferences: [owner('default', 'kubernetes')] },
        endpoints: ofPod('default'),
      }),
  ],
  () => [
    'a hand-made slice',
    'PUT',
    slicesOf('shop', 'by-staff'),
    (held) =>
      taken(held, {
        metadata: { labels: sliceLabels('db'), ownerReferences: [owner('shop', 'db')] },
        endpoints: ofPod('shop'),
      }),
  ],
  () => [
    'a hand-made slice, made one of another Service',
    'PUT',
    slicesOf('shop', 'by-staff'),
    (held) =>
      taken(held, {
        metadata: { labels: sliceLabels('web'), ownerReferences: [owner('shop', 'web')] },
        endpoints: ofPod('shop'),
      }),
  ],
  () => [
    'a slice that was mirrored',
    'PUT',
    slicesOf('shop', 'mirrored'),
    (held) =>
      taken(held, {
        metadata: { labels: sliceLabels('web'), ownerReferences: [owner('shop', 'web')] },
        endpoints: ofPod('shop'),
      }),
  ],
  () => ['a hand-made slice, deleted', 'DELETE', slicesOf('shop', 'by-staff')],
  () => ['a mirrored slice, deleted', 'DELETE', slicesOf('shop', 'mirrored')],
  () => ["the API server's own slice, deleted", 'DELETE', slicesOf('default', 'kubernetes')],
  () => ['all slices of a namespace, deleted at once', 'DELETE', slicesOf('shop')],
  () => [
    'a slice of ours, moved to another Service',
    'PUT',
    own,
    (held) =>
      taken(held, { metadata: { labels: sliceLabels('other'), ownerReferences: [owner('shop', 'other')] } }),
  ],
  () => [
    'a slice of ours, taken out of our hands',
    'PUT',
    own,
    (held) => taken(held, { metadata: { labels: { [managedBy]: 'staff' } } }),
  ],
  () => [
    'a slice of ours, without its owner',
    'PUT',
    own,
    (held) => taken(held, { metadata: { ownerReferences: undefined } }),
  ],
  () => [
    'a slice of ours, with a finalizer',
    'PUT',
    own,
    (held) => taken(held, { metadata: { finalizers: ['example.com/stay'] } }),
  ],
  () => [
    'a new slice, with a finalizer',
    'POST',
    slicesOf('shop'),
    slice('shop', 'web', { metadata: { finalizers: ['example.com/stay'] } }),
  ],
  () => ['a slice of ours, by a patch', 'PATCH', own, { endpoints: [] }],
  () => [
    'a slice, by apply',
    'PATCH',
    `${slicesOf('shop', 'applied')}?fieldManager=w`,
    slice('shop', 'web', { metadata: { name: 'applied', generateName: undefined } }),
  ],
  () => ['a subresource of a slice of ours', 'PUT', `${own}/status`, (held) => held],
  // Endpoints
  () => [
    'Endpoints without our label',
    'POST',
    endpointsOf('shop'),
    endpoints('shop', 'x', { metadata: { labels: {} } }),
  ],
  () => ['Endpoints that point at no pod', 'POST', endpointsOf('shop'), endpoints('shop', 'x', { ref: {} })],
  () => [
    'Endpoints that point at a pod of another namespace',
    'POST',
    endpointsOf('shop'),
    endpoints('shop', 'x', { ref: podIn('kube-system') }),
  ],
  () => [
    'Endpoints of which an address that is not ready is no pod',
    'POST',
    endpointsOf('shop'),
    endpoints('shop', 'x', { subsets: [{ notReadyAddresses: [{ ip: elsewhere }] }] }),
  ],
  () => [
    "the API server's own Endpoints",
    'PUT',
    endpointsOf('default', 'kubernetes'),
    (held) => taken(held, endpoints('default', 'kubernetes')),
  ],
  () => ["the API server's own Endpoints, deleted", 'DELETE', endpointsOf('default', 'kubernetes')],
  () => [
    'hand-made Endpoints',
    'PUT',
    endpointsOf('shop', 'db'),
    (held) => taken(held, endpoints('shop', 'db')),
  ],
  () => ['hand-made Endpoints, deleted', 'DELETE', endpointsOf('shop', 'db')],
  () => [
    'Endpoints of another controller',
    'PUT',
    endpointsOf('shop', 'by-staff'),
    (held) => taken(held, endpoints('shop', 'by-staff')),
  ],
  () => ['Endpoints of another controller, deleted', 'DELETE', endpointsOf('shop', 'by-staff')],
  () => [
    'a leader-election record',
    'PUT',
    endpointsOf('shop', 'lock'),
    (held) => taken(held, { metadata: { labels: endpointsLabels } }),
  ],
  () => [
    'a new leader-election record',
    'POST',
    endpointsOf('shop'),
    endpoints('shop', 'x', { metadata: { annotations: leader } }),
  ],
  () => [
    'Endpoints of ours, made a leader-election record',
    'PUT',
    endpointsOf('shop', 'web'),
    (held) => taken(held, { metadata: { annotations: leader } }),
  ],
  () => [
    'Endpoints of ours, with a finalizer',
    'PUT',
    endpointsOf('shop', 'web'),
    (held) => taken(held, { metadata: { finalizers: ['example.com/stay'] } }),
  ],
  () => [
    'Endpoints of ours, with an owner',
    'PUT',
    endpointsOf('shop', 'web'),
    (held) => taken(held, { metadata: { ownerReferences: [owner('shop', 'x', 'ConfigMap')] } }),
  ],
  () => ['Endpoints by a patch', 'PATCH', endpointsOf('shop', 'web'), { subsets: [] }],
  () => ['all Endpoints of a namespace, deleted at once', 'DELETE', endpointsOf('shop')],
  // Events
  () => ['an Event of the kubelet', 'POST', eventsOf('shop'), event('shop', 'kubelet')],
  () => [
    'an Event about a Node',
    'POST',
    eventsOf('default'),
    event('default', 'endpoint-controller', { kind: 'Node', name: 'node' }),
  ],
  () => [
    'an Event of the kubelet, changed',
    'PATCH',
    eventsOf('shop', 'of-the-kubelet'),
    { message: 'nothing happened' },
  ],
  () => [
    'an Event of the kubelet, made one of ours',
    'PATCH',
    eventsOf('shop', 'of-the-kubelet'),
    { source: { component: 'endpoint-controller' } },
  ],
  () => [
    'an Event by the newer API',
    'POST',
    '/apis/events.k8s.io/v1/namespaces/shop/events',
    {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'newer', namespace: 'shop' },
      reportingController: 'kubelet',
    },
  ],
  () => ['an Event deleted', 'DELETE', eventsOf('shop', 'of-the-kubelet')],
  // Further objects
  () => [
    'a label of a Service',
    'PATCH',
    '/api/v1/namespaces/shop/services/web',
    { metadata: { labels: { a: 'b' } } },
  ],
  () => [
    'a pod',
    'POST',
    '/api/v1/namespaces/shop/pods',
    { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  ],
  () => [
    'the policies',
    'DELETE',
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/fleet-endpoints-writer-slices',
  ],
  () => [
    'the bindings',
    'DELETE',
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/fleet-endpoints-writer-slices',
  ],
  () => ['Secrets', 'GET', '/api/v1/namespaces/fleet-endpoints/secrets'],
  () => [
    'a token of another service account',
    'POST',
    '/api/v1/namespaces/fleet-endpoints/serviceaccounts/relay/token',
    { spec: {} },
  ],
];

/**
 * Refused by RBAC, by a policy, or for want of such a verb or subresource; not because the request makes no
 * sense.
 */
const isRefusal = (path: string, { status, body }: Answer): boolean =>
  status === 403 ||
  status === 405 ||
  (status === 422 && /ValidatingAdmissionPolicy/.test(body.message)) ||
  (status === 404 && path.endsWith('/status'));

it('the writer can change only objects of the two controllers', async () => {
  const before = await everything();
  const accepted: string[] = [];
  for (const attempt of attempts) {
    const [what, method, path, body] = attempt();
    const sent =
      typeof body === 'function' ? body((await call(root, 'GET', path.replace(/\/status$/, ''))).body) : body;
    const answer = await call(writer, method, path, sent);
    if (!isRefusal(path, answer)) accepted.push(`${what}: ${answer.status} ${answer.body.message ?? ''}`);
  }
  expect(accepted).toEqual([]);
  expect(await everything()).toEqual(before);
});

it('the same holds for the hub’s functions, which are known by their group', async () => {
  const asFunction = { 'impersonate-user': 'aws:sync', 'impersonate-group': writerGroup };
  const answer = await fetchAs(
    asFunction,
    slicesOf('shop'),
    slice('shop', 'web', { endpoints: [{ addresses: [elsewhere] }] }),
  );
  expect(answer).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('points at pods of the same namespace only') },
  });
  expect(await fetchAs(asFunction, `${slicesOf('shop')}?dryRun=All`, slice('shop', 'web'))).toMatchObject({
    status: 201,
  });
});

it('others are not held by the policies', async () => {
  expect(
    await call(
      root,
      'POST',
      `${slicesOf('shop')}?dryRun=All`,
      slice('shop', 'web', { metadata: { labels: {} }, endpoints: [] }),
    ),
  ).toMatchObject({
    status: 201,
  });
  expect(await call(root, 'POST', `${eventsOf('shop')}?dryRun=All`, event('shop', 'kubelet'))).toMatchObject({
    status: 201,
  });
});

describe('the writer may do everything that the two controllers do', () => {
  const api = () => httpsClusterApi(connection, { fieldManager: 'fleet-endpoints' });

  it('the writer creates, changes and deletes its own objects, in kube-system too', async () => {
    for (const [namespace, service] of [
      ['shop', 'other'],
      ['kube-system', 'dns'],
    ] as const) {
      const created = [
        await api().create(
          'EndpointSlice',
          slice(namespace, service, { metadata: { name: `${service}-1`, generateName: undefined } }),
        ),
        await api().create('Endpoints', endpoints(namespace, service)),
      ] as Body[];
      for (const object of created) {
        const kind = object.kind as 'EndpointSlice' | 'Endpoints';
        const changed = await api().replace(kind, taken(object, { metadata: { labels: { team: 'maps' } } }));
        const { name, uid = '', resourceVersion = '' } = changed.metadata;
        expect(await api().delete(kind, namespace, name, { uid, resourceVersion })).toBe(true);
      }
    }
  });

  it('the writer keeps owners and finalizers of other clients, and writes slices without endpoints', async () => {
    const kept = {
      finalizers: ['example.com/kept'],
      ownerReferences: [owner('shop', 'other'), { ...owner('shop', 'x', 'ConfigMap'), controller: false }],
    };
    const held = await made(
      'POST',
      slicesOf('shop'),
      slice('shop', 'other', { metadata: { name: 'kept', ...kept } }),
    );
    const emptied = (await api().replace('EndpointSlice', { ...held, endpoints: [], ports: [] })) as Body;
    expect(emptied.metadata).toMatchObject(kept);
    expect(
      await api().replace('EndpointSlice', {
        ...emptied,
        endpoints: null,
        metadata: { ...emptied.metadata, finalizers: undefined },
      }),
    ).toBeDefined();
  });

  it('records Events and counts them', async () => {
    const name = 'web.1234';
    await api().create(
      'Event',
      event('shop', 'endpoint-slice-controller', undefined, { metadata: { name, namespace: 'shop' } }),
    );
    await api().patch('Event', 'shop', name, { count: 2, lastTimestamp: '2026-01-01T00:00:00Z' });
    expect((await call(root, 'GET', eventsOf('shop', name))).body).toMatchObject({ count: 2 });
    await api().create('Event', event('default', 'endpoint-controller', { kind: 'Endpoints', name: 'web' }));
  });

  it('records an Event again by raising its count', async () => {
    const [log, warnings] = [
      {
        info() {},
        warn: (...said: unknown[]) => void warnings.push(said),
        error() {},
        with: () => log,
      } as Log,
      [] as unknown[],
    ];
    const recorder = eventRecorder({ now: Date.now, log });
    const regarding = {
      apiVersion: 'v1',
      kind: 'Service',
      namespace: 'shop',
      name: 'web',
      uid: uids.get('shop/web') ?? '',
    };
    const sketch = {
      type: 'Warning',
      reason: 'FailedToUpdateEndpointSlices',
      message: 'twice',
      regarding,
      component: 'endpoint-slice-controller',
    };
    for (const _ of [1, 2]) await recorder.record(api(), sketch as never);
    expect(warnings).toEqual([]);
    const { items } = (await call(root, 'GET', eventsOf('shop'))).body;
    expect(items.filter((e: Body) => e.message === 'twice')).toMatchObject([{ count: 2 }]);
  });

  it('takes over Endpoints and slices from kube-controller-manager, also from one that does not label its Endpoints', async () => {
    const [namespace, service] = ['handover', 'web'];
    await admin.create('Namespace', '', { metadata: { name: namespace } });
    await admin.create('Node', '', { metadata: { name: 'node' } });
    await admin.create('Service', namespace, {
      metadata: { name: service },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    });
    await admin.create('Pod', namespace, {
      metadata: { name: 'a', labels: { app: 'web' } },
      spec: { nodeName: 'node', containers: [{ name: 'c', image: 'i' }] },
    } as Body);
    const status = {
      phase: 'Running',
      podIP: '10.1.0.1',
      podIPs: [{ ip: '10.1.0.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    };
    await admin.patchStatus('Pod', namespace, 'a', { status } as Body);
    await controlPlane.controllerManager.start([
      '--controllers=endpoints-controller,endpointslice-controller',
    ]);
    const [second] = await vi.waitFor(
      async () => {
        const [held, { items }] = [
          await admin.get('Endpoints', namespace, service),
          await admin.list('EndpointSlice', namespace),
        ];
        expect(held?.subsets?.[0]?.addresses).toHaveLength(1);
        expect(items[0]?.endpoints).toHaveLength(1);
        return items as readonly Body[];
      },
      { timeout: 30_000, interval: 200 },
    );
    await controlPlane.controllerManager.stop();
    expect(
      await api().replace(
        'EndpointSlice',
        taken({ kind: 'EndpointSlice', ...second }, { metadata: { labels: { team: 'maps' } } }),
      ),
    ).toBeDefined();
    const unlabelled = await call(root, 'PATCH', endpointsOf(namespace, service), {
      metadata: { labels: { 'endpoints.kubernetes.io/managed-by': null } },
    });
    expect(unlabelled.body.metadata.labels ?? {}).toEqual({});
    expect(
      await api().replace('Endpoints', taken(unlabelled.body, { metadata: { labels: endpointsLabels } })),
    ).toMatchObject({
      metadata: { labels: endpointsLabels },
    });
  });

  it('deletes Endpoints of a former kube-controller-manager whose Service has gone', async () => {
    const { metadata } = await made(
      'POST',
      endpointsOf('shop'),
      endpoints('shop', 'gone', { metadata: { labels: {} } }),
    );
    expect(
      await api().delete('Endpoints', 'shop', 'gone', {
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      }),
    ).toBe(true);
  });
});

/** Sends a request as a user with groups of the API server's authenticators. */
async function fetchAs(
  headers: { readonly [name: string]: string },
  path: string,
  body: Body,
): Promise<Answer> {
  const { server, ca, token } = controlPlane.connection;
  const request = https.request(`${server}${path}`, {
    method: 'POST',
    ca,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  });
  request.end(JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await json(response) };
}
