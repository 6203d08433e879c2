/**
 * The limits of the writer's credentials for Services that opt in, by RBAC and admission on a real API
 * server: with opt-in only, and with mode active.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { WriterTasks } from '#infra/relay/writer-tasks.ts';
import { type HttpTransport, httpTransport } from '#shared/clusters/api/transport.ts';
import {
  labelEndpointsManagedBy,
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import { connectApi } from '#test/e2e/api.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { applyAccess, writerConnection } from '#test/support/relay-install.ts';

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes objects, right and wrong ones
type Body = any;

const slices = (name = '') =>
  `/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices${name && `/${name}`}?dryRun=All`;
const endpoints = (name = '') => `/api/v1/namespaces/shop/endpoints${name && `/${name}`}?dryRun=All`;

let controlPlane: ControlPlane;
let root: HttpTransport;
let writer: HttpTransport;
let uid = '';

const slice = (
  name: string,
  managedBy: string,
  { namespace = 'shop', owned = true }: { readonly namespace?: string; readonly owned?: boolean } = {},
) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name,
    namespace: 'shop',
    labels: { [labelServiceName]: 'web', [labelSliceManagedBy]: managedBy },
    ...(owned && {
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Service', name: 'web', uid, controller: true, blockOwnerDeletion: true },
      ],
    }),
  },
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: ['10.1.0.1'],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', namespace, name: 'p', uid: 'u' },
    },
  ],
  ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
});
const endpointsOf = (
  name: string,
  labels: object,
  ref: object = { targetRef: { kind: 'Pod', namespace: 'shop', name: 'p', uid: 'u' } },
) => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name, namespace: 'shop', labels },
  subsets: [{ addresses: [{ ip: '10.1.0.1', ...ref }], ports: [{ port: 80 }] }],
});
const ofUpstream = { [labelEndpointsManagedBy]: 'endpoint-controller' };

async function call(
  as: HttpTransport,
  method: string,
  path: string,
  body?: Body,
): Promise<{ readonly status: number; readonly body: Body }> {
  const answer = await as.request(method, path, {
    ...(body && { body: JSON.stringify(body), contentType: 'application/json' }),
  });
  return { status: answer.status, body: JSON.parse(answer.body.toString()) };
}
const held = async (path: string): Promise<Body> =>
  (await call(root, 'GET', path.replace('?dryRun=All', ''))).body;
const put = async (path: string, labels: object): Promise<Body> => {
  const object = await held(path);
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } };
};

beforeAll(async () => {
  controlPlane = await startControlPlane();
  root = httpTransport(controlPlane.connection);
  const admin = connectApi(controlPlane.connection);
  await admin.create('Namespace', '', { metadata: { name: 'shop' } });
  uid =
    (await admin.create('Service', 'shop', { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } }))
      .metadata.uid ?? '';
  admin.close();
  const objects: readonly [string, Body][] = [
    [slices(), slice('ours', optInManagedBy)],
    [slices(), slice('theirs', slicesManagedBy)],
    [slices(), slice('by-staff', 'staff')],
    [slices(), slice('mirrored', 'endpointslicemirroring-controller.k8s.io')],
    [endpoints(), endpointsOf('web', ofUpstream)],
    [endpoints(), endpointsOf('by-hand', {}, {})],
  ];
  for (const [path, body] of objects)
    expect((await call(root, 'POST', path.replace('?dryRun=All', ''), body)).status).toBe(201);
}, 120_000);
afterAll(async () => {
  for (const transport of [root, writer]) transport?.close();
  await controlPlane?.stop();
});

/** Policies are compiled some time after they were made. */
async function allow(tasks: WriterTasks, isInForce: () => Promise<boolean>): Promise<void> {
  await applyAccess(controlPlane, tasks);
  writer ??= httpTransport(await writerConnection(controlPlane));
  await vi.waitFor(async () => expect(await isInForce()).toBe(true), { timeout: 60_000, interval: 200 });
}

type Attempt = readonly [what: string, method: string, path: string, body?: Body];
const isAllowed = async ([, method, path, body]: Attempt): Promise<boolean> => {
  const { status } = await call(writer, method, path, body);
  expect([200, 201, 403, 422]).toContain(status);
  return status < 300;
};
const allowedOf = async (attempts: readonly Attempt[]): Promise<readonly string[]> => {
  const allowed: string[] = [];
  for (const attempt of attempts) if (await isAllowed(attempt)) allowed.push(attempt[0]);
  return allowed;
};

const own = async (): Promise<readonly Attempt[]> => [
  ['a new slice of ours', 'POST', slices(), slice('new', optInManagedBy)],
  ['a slice of ours, changed', 'PUT', slices('ours'), await put(slices('ours'), { team: 'maps' })],
  ['a slice of ours, deleted', 'DELETE', slices('ours')],
];
const leftovers: readonly Attempt[] = [
  ['a slice of the built-in controller, deleted', 'DELETE', slices('theirs')],
  ['Endpoints of the built-in controller, deleted', 'DELETE', endpoints('web')],
];
const never = async (): Promise<readonly Attempt[]> => [
  [
    'a slice of ours that points into another namespace',
    'POST',
    slices(),
    slice('new', optInManagedBy, { namespace: 'kube-system' }),
  ],
  ['a slice of ours without an owner', 'POST', slices(), slice('new', optInManagedBy, { owned: false })],
  ['a slice of another manager', 'POST', slices(), slice('new', 'staff')],
  [
    'a slice of ours, given away',
    'PUT',
    slices('ours'),
    await put(slices('ours'), { [labelSliceManagedBy]: slicesManagedBy }),
  ],
  [
    'a slice of ours, given to a person',
    'PUT',
    slices('ours'),
    await put(slices('ours'), { [labelSliceManagedBy]: 'staff' }),
  ],
  [
    'a slice of the built-in controller, taken',
    'PUT',
    slices('theirs'),
    await put(slices('theirs'), { [labelSliceManagedBy]: optInManagedBy }),
  ],
  [
    'a slice of a person, taken',
    'PUT',
    slices('by-staff'),
    await put(slices('by-staff'), { [labelSliceManagedBy]: optInManagedBy }),
  ],
  ['a slice of a person, deleted', 'DELETE', slices('by-staff')],
  ['a mirrored slice, deleted', 'DELETE', slices('mirrored')],
  ['Endpoints of a person, deleted', 'DELETE', endpoints('by-hand')],
];
const upstreams = async (): Promise<readonly Attempt[]> => [
  ['a new slice of the built-in controller', 'POST', slices(), slice('new', slicesManagedBy)],
  [
    'a slice of the built-in controller, changed',
    'PUT',
    slices('theirs'),
    await put(slices('theirs'), { team: 'maps' }),
  ],
  ['new Endpoints', 'POST', endpoints(), endpointsOf('new', ofUpstream)],
  [
    'Endpoints of the built-in controller, changed',
    'PUT',
    endpoints('web'),
    await put(endpoints('web'), { team: 'maps' }),
  ],
];
const names = (attempts: readonly Attempt[]): readonly string[] => attempts.map(([what]) => what);

describe('the writer', { timeout: 120_000 }, () => {
  it('with opt-in only, the writer writes its own slices, and deletes leftovers of the built-in controllers', async () => {
    const [attempt] = await upstreams();
    await allow(
      { builtIn: false, optIn: true, cleanup: true },
      async () => !(await isAllowed(attempt as Attempt)) && allAre(true, await own()),
    );
    expect(
      await allowedOf([...(await own()), ...leftovers, ...(await never()), ...(await upstreams())]),
    ).toEqual(names([...(await own()), ...leftovers]));
  });

  it('without cleanup the writer deletes nothing but its own', async () => {
    await allow({ builtIn: false, optIn: true, cleanup: false }, () => allAre(false, leftovers));
    expect(
      await allowedOf([...(await own()), ...leftovers, ...(await never()), ...(await upstreams())]),
    ).toEqual(names(await own()));
  });

  it('in mode active with opt-in the writer writes both, and changes the manager of no slice', async () => {
    await allow({ builtIn: true, optIn: true, cleanup: true }, async () => allAre(true, await upstreams()));
    const wanted = [...(await own()), ...leftovers, ...(await upstreams())];
    expect(await allowedOf([...wanted, ...(await never())])).toEqual(names(wanted));
  });

  it('without opt-in the writer writes no slice for Services that opt in', async () => {
    await allow({ builtIn: true, optIn: false, cleanup: false }, async () => allAre(false, await own()));
    const wanted = [...leftovers, ...(await upstreams())];
    expect(await allowedOf([...wanted, ...(await own()), ...(await never())])).toEqual(names(wanted));
  });
});

async function allAre(allowed: boolean, attempts: readonly Attempt[]): Promise<boolean> {
  for (const attempt of attempts) if ((await isAllowed(attempt)) !== allowed) return false;
  return true;
}
