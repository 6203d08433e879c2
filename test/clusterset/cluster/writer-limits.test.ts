/**
 * The limits of the writer's credentials across clusters (MC-66), on a real API server: tries to bypass the
 * manifest's RBAC and admission policies.
 */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ClustersetTasks } from '#infra/relay/set-tasks.ts';
import { writerPolicies } from '#infra/relay/writer-policies.ts';
import { httpsClusterApi } from '#shared/clusters/api/https.ts';
import { type HttpTransport, httpTransport } from '#shared/clusters/api/transport.ts';
import { annotationDerivedService } from '#shared/clusterset/contract/clusterset-names.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { hasFeature } from '#shared/kube/kubernetes-version.ts';
import {
  annotationClusterset,
  importManagedBy,
  importsManagedBy,
  labelMcsService,
  labelServiceName,
  labelSliceManagedBy,
  labelSourceCluster,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import { type Api, connectApi } from '#test/e2e/api.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { installMcs } from '#test/support/control-plane/mcs-crds.ts';
import { applyAccess, applyManifests, writerConnection } from '#test/support/relay-install.ts';

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes objects, right and wrong ones
type Body = any;

const v1beta1 = '/apis/multicluster.x-k8s.io/v1beta1';
const inNamespace = (root: string, plural: string) => (namespace: string, name?: string) =>
  `${root}/namespaces/${namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
const [imports, exports_] = [inNamespace(v1beta1, 'serviceimports'), inNamespace(v1beta1, 'serviceexports')];
const [services, slices] = [
  inNamespace('/api/v1', 'services'),
  inNamespace('/apis/discovery.k8s.io/v1', 'endpointslices'),
];

/**
 * Ranges of the sources, without `elsewhere`. There are as many as a cluster may have, with the address in
 * the last, because a policy has a budget.
 */
const sources = {
  b: ['10.2.0.0/16', 'fd00:2::/48'],
  c: [...Array.from({ length: 15 }, (_, i) => `10.${100 + i}.0.0/16`), '10.3.0.0/16'],
};
const elsewhere = '203.0.113.66';
/** The policy of addresses reads the ServiceCIDRs. */
const checksAddresses = hasFeature(process.env['KUBERNETES_VERSION'], 'serviceCidrs');
const tasks = { builtIn: true, optIn: true, cleanup: true };
const importing: ClustersetTasks = { imports: { cluster: 'a', set: 'prod', sameness: 'labelled', sources } };

let controlPlane: ControlPlane;
let admin: Api;
let root: HttpTransport;
let writer: HttpTransport;

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
  const text = answer.body.toString();
  return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : { message: text } };
}
async function made(path: string, body: Body): Promise<Body> {
  const answer = await call(root, 'POST', path, body);
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.body.message}`);
  return answer.body;
}

const anImport = (namespace: string, name: string, { metadata = {}, ...over }: Body = {}): Body => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceImport',
  metadata: {
    namespace,
    name,
    labels: { [importManagedBy.key]: importManagedBy.value },
    annotations: { [annotationDerivedService]: derivedName(namespace, name), [annotationClusterset]: 'prod' },
    ...metadata,
  },
  spec: { type: 'ClusterSetIP', ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
  ...over,
});
const anExport = (name: string): Body => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: { name },
  spec: {},
});
const uids = new Map<string, string>();
const someUid = 'b7f1a0de-0000-4000-8000-000000000000';
const ownedBy = (kind: 'Service' | 'ServiceImport', name: string) => ({
  apiVersion: kind === 'Service' ? 'v1' : 'multicluster.x-k8s.io/v1beta1',
  kind,
  name,
  uid: uids.get(name) ?? someUid,
  controller: true,
  blockOwnerDeletion: true,
});
const derived = (namespace: string, name: string, { metadata = {}, spec = {} }: Body = {}): Body => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    namespace,
    name: derivedName(namespace, name),
    labels: { [labelMcsService]: name, [importManagedBy.key]: importManagedBy.value },
    ownerReferences: [ownedBy('ServiceImport', name)],
    ...metadata,
  },
  spec: { type: 'ClusterIP', ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }], ...spec },
});
const labelsOf = (service: string, source: string, managedBy: string) => ({
  [labelServiceName]: derivedName('shop', service),
  [labelSliceManagedBy]: managedBy,
  [labelMcsService]: service,
  [labelSourceCluster]: source,
});
const endpoint = (address: string, more: Body = {}): Body => ({
  addresses: [address],
  conditions: { ready: true },
  ...more,
});
/** Returns a slice of cluster b for import shop/web. */
const slice = ({ metadata = {}, labels = {}, ...over }: Body = {}): Body => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    generateName: 'derived-',
    namespace: 'shop',
    labels: Object.fromEntries(
      Object.entries({ ...labelsOf('web', 'b', importsManagedBy), ...labels }).filter(
        ([, v]) => v !== undefined,
      ),
    ),
    ownerReferences: [ownedBy('Service', derivedName('shop', 'web'))],
    ...metadata,
  },
  addressType: 'IPv4',
  endpoints: [
    endpoint('10.2.0.1', {
      zone: 'eu-central-1a',
      hostname: 'web-0',
      hints: { forZones: [{ name: 'eu-central-1a' }] },
    }),
  ],
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  ...over,
});
const condition = (type: string, status = 'True') => ({
  type,
  status,
  reason: 'Valid',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
/** Returns an existing object as the writer would send it. */
const taken = (held: Body, over: Body): Body => ({
  ...held,
  ...over,
  metadata: {
    ...held.metadata,
    ...over.metadata,
    labels: { ...held.metadata.labels, ...over.metadata?.labels },
    annotations: { ...held.metadata.annotations, ...over.metadata?.annotations },
  },
});
const ofSpec = (held: Body, spec: Body): Body => taken(held, { spec: { ...held.spec, ...spec } });

beforeAll(async () => {
  controlPlane = await startControlPlane();
  admin = connectApi(controlPlane.connection);
  root = httpTransport(controlPlane.connection);
  await installMcs(controlPlane.connection);
  await applyAccess(controlPlane, tasks, importing);
  writer = httpTransport(await writerConnection(controlPlane));
  const namespaces = {
    shop: 'prod',
    other: 'another-set',
    closed: undefined,
    'fleet-endpoints-like': undefined,
  };
  for (const [name, set] of Object.entries(namespaces))
    await admin.create('Namespace', '', {
      metadata: { name, labels: set ? { [annotationClusterset]: set } : {} },
    });
  for (const excluded of ['default', 'kube-system', 'fleet-endpoints'])
    await call(root, 'PATCH', `/api/v1/namespaces/${excluded}`, {
      metadata: { labels: { [annotationClusterset]: 'prod' } },
    });

  uids.set('web', (await made(imports('shop'), anImport('shop', 'web'))).metadata.uid);
  uids.set(derivedName('shop', 'web'), (await made(services('shop'), derived('shop', 'web'))).metadata.uid);
  await made(slices('shop'), slice({ metadata: { name: 'ours' } }));
  await made(exports_('shop'), anExport('web'));
  const status = { status: { conditions: [condition('Valid'), condition('example.com/Approved')] } };
  await call(root, 'PATCH', `${exports_('shop', 'web')}/status`, status);
  // This object belongs to a user.
  await made(services('shop'), {
    metadata: { name: 'mine', labels: { app: 'mine' } },
    spec: { selector: { app: 'mine' }, ports: [{ port: 80 }] },
  });
  await made(services('shop'), { metadata: { name: 'derived-0123456789' }, spec: { ports: [{ port: 80 }] } });
  // This object belongs to another implementation of the same API, with the API's names and labels.
  uids.set(
    'theirs',
    (await made(imports('shop'), anImport('shop', 'theirs', { metadata: { labels: {}, annotations: {} } })))
      .metadata.uid,
  );
  await made(
    services('shop'),
    derived('shop', 'theirs', { metadata: { labels: { [labelMcsService]: 'theirs' } } }),
  );
  await made(
    slices('shop'),
    slice({ metadata: { name: 'of-theirs' }, labels: labelsOf('theirs', 'b', 'lighthouse') }),
  );
  // This object belongs to another hub's set in the same cluster.
  await made(
    imports('shop'),
    anImport('shop', 'staging', { metadata: { annotations: { [annotationClusterset]: 'staging' } } }),
  );
  // This object belongs to the built-in controller.
  const builtIn = { [labelServiceName]: 'mine', [labelSliceManagedBy]: slicesManagedBy };
  await made(slices('shop'), {
    ...slice({ endpoints: [] }),
    metadata: {
      name: 'built-in',
      namespace: 'shop',
      labels: builtIn,
      ownerReferences: [ownedBy('Service', 'mine')],
    },
  });

  // Policies are compiled some time after they were made: each must have refused something.
  const options = { timeout: 30_000, interval: 200 };
  const probes: readonly (readonly [method: string, path: string, body: Body, type?: string])[] = [
    ['POST', slices('shop'), slice({ endpoints: [endpoint(elsewhere)] })],
    [
      'POST',
      slices('shop'),
      slice({ labels: { [labelSliceManagedBy]: 'staff', [labelSourceCluster]: undefined } }),
    ],
    ['POST', services('shop'), derived('shop', 'probe', { spec: { selector: { app: 'web' } } })],
    ['POST', imports('shop'), anImport('shop', 'probe', { metadata: { labels: {} } })],
    ['PATCH', `${exports_('shop', 'web')}/status`, { status: { conditions: [] } }],
    ...(checksAddresses
      ? [
          [
            'PUT',
            imports('shop', 'web'),
            ofSpec((await call(root, 'GET', imports('shop', 'web'))).body, { ips: [elsewhere] }),
          ] as const,
        ]
      : []),
  ];
  for (const [method, path, body] of probes)
    await vi.waitFor(
      async () =>
        expect(await call(writer, method, `${path}?dryRun=All`, body), `${method} ${path}`).toMatchObject({
          status: 422,
        }),
      options,
    );
}, 120_000);

afterAll(async () => {
  for (const open of [admin, root, writer]) open?.close();
  await controlPlane?.stop();
});

/** Everything that the writer might have changed. */
async function everything(): Promise<readonly string[]> {
  const paths = [
    `${v1beta1}/serviceimports`,
    `${v1beta1}/serviceexports`,
    '/api/v1/services',
    '/apis/discovery.k8s.io/v1/endpointslices',
  ];
  const lists = await Promise.all(paths.map(async (path) => (await call(root, 'GET', path)).body.items));
  return lists
    .flat()
    .map(
      (o: Body) =>
        `${o.metadata.namespace}/${o.metadata.name} ${o.metadata.uid} ${o.metadata.resourceVersion}`,
    )
    .sort();
}

type Attempt = readonly [what: string, method: string, path: string, body?: object | ((held: Body) => Body)];
const own = slices('shop', 'ours');
const ownDerived = services('shop', derivedName('shop', 'web'));
const ownImport = imports('shop', 'web');
const ipv6 = (address: string): Body => ({ addressType: 'IPv6', endpoints: [endpoint(address)] });
const podIn = (namespace: string) => ({ targetRef: { kind: 'Pod', namespace, name: 'p', uid: 'u' } });
const intoNamespace = (namespace: string): readonly Attempt[] => [
  [`a ServiceImport in ${namespace}`, 'POST', imports(namespace), anImport(namespace, 'web')],
  [`a derived Service in ${namespace}`, 'POST', services(namespace), derived(namespace, 'web')],
  [
    `a slice of an import in ${namespace}`,
    'POST',
    slices(namespace),
    slice({
      metadata: { namespace, ownerReferences: [ownedBy('Service', derivedName(namespace, 'web'))] },
      labels: { [labelServiceName]: derivedName(namespace, 'web') },
    }),
  ],
];

const toAddresses: readonly Attempt[] = [
  [
    'our import, with an address that is no Service’s',
    'PUT',
    ownImport,
    (held) => ofSpec(held, { ips: [elsewhere] }),
  ],
  ['our import, with an address of pods', 'PUT', ownImport, (held) => ofSpec(held, { ips: ['10.2.0.1'] })],
];

const attempts: readonly (() => readonly Attempt[])[] = [
  () => (checksAddresses ? toAddresses : []),
  // Slices of imports
  () => [
    [
      'an address outside of every range',
      'POST',
      slices('shop'),
      slice({ endpoints: [endpoint(elsewhere)] }),
    ],
    ['an address of another source', 'POST', slices('shop'), slice({ endpoints: [endpoint('10.3.0.1')] })],
    [
      'one wrong address of two endpoints',
      'POST',
      slices('shop'),
      slice({ endpoints: [endpoint('10.2.0.1'), endpoint('10.3.0.1')] }),
    ],
    [
      'one wrong address of two of an endpoint',
      'POST',
      slices('shop'),
      slice({ endpoints: [{ addresses: ['10.2.0.1', elsewhere] }] }),
    ],
    ['an IPv6 address outside of the range', 'POST', slices('shop'), slice(ipv6('fd00:3::1'))],
    [
      'names instead of addresses',
      'POST',
      slices('shop'),
      slice({ addressType: 'FQDN', endpoints: [endpoint('example.com')] }),
    ],
    [
      'a source that exports nothing to this cluster',
      'POST',
      slices('shop'),
      slice({ labels: { [labelSourceCluster]: 'd' }, endpoints: [endpoint('10.2.0.1')] }),
    ],
    [
      'no source',
      'POST',
      slices('shop'),
      slice({ labels: { [labelSourceCluster]: undefined }, endpoints: [endpoint('10.2.0.1')] }),
    ],
    [
      'a source without a name',
      'POST',
      slices('shop'),
      slice({ labels: { [labelSourceCluster]: '' }, endpoints: [endpoint('10.2.0.1')] }),
    ],
    ['no exported Service', 'POST', slices('shop'), slice({ labels: { [labelMcsService]: undefined } })],
    [
      'an endpoint that names a pod',
      'POST',
      slices('shop'),
      slice({ endpoints: [endpoint('10.2.0.1', podIn('shop'))] }),
    ],
    [
      'an endpoint that names a node, and so is local to it',
      'POST',
      slices('shop'),
      slice({ endpoints: [endpoint('10.2.0.1', { nodeName: 'node-1' })] }),
    ],
    [
      'an imported slice of a user’s Service',
      'POST',
      slices('shop'),
      slice({
        metadata: { ownerReferences: [ownedBy('Service', 'mine')] },
        labels: { [labelServiceName]: 'mine' },
      }),
    ],
    [
      'an imported slice of a Service whose name only begins like a derived one',
      'POST',
      slices('shop'),
      slice({
        metadata: { ownerReferences: [ownedBy('Service', 'derived-mine')] },
        labels: { [labelServiceName]: 'derived-mine' },
      }),
    ],
    [
      'an imported slice without an owner',
      'POST',
      slices('shop'),
      slice({ metadata: { ownerReferences: undefined } }),
    ],
    [
      'an imported slice that another Service owns',
      'POST',
      slices('shop'),
      slice({ metadata: { ownerReferences: [ownedBy('Service', 'mine')] } }),
    ],
    [
      'an imported slice with a second owner',
      'POST',
      slices('shop'),
      slice({
        metadata: {
          ownerReferences: [
            ownedBy('Service', derivedName('shop', 'web')),
            { ...ownedBy('Service', 'mine'), controller: false },
          ],
        },
      }),
    ],
    [
      'an imported slice with a finalizer',
      'POST',
      slices('shop'),
      slice({ metadata: { finalizers: ['example.com/stay'] } }),
    ],
    [
      'ours, with an address elsewhere',
      'PUT',
      own,
      (held) => taken(held, { endpoints: [endpoint(elsewhere)] }),
    ],
    [
      'ours, given to another source whose range the address is not in',
      'PUT',
      own,
      (held) => taken(held, { metadata: { labels: { [labelSourceCluster]: 'c' } } }),
    ],
    [
      'ours, given to another source with an address of its range',
      'PUT',
      own,
      (held) =>
        taken(held, {
          endpoints: [endpoint('10.3.0.1')],
          metadata: { labels: { [labelSourceCluster]: 'c' } },
        }),
    ],
    [
      'ours, given to another import',
      'PUT',
      own,
      (held) => taken(held, { metadata: { labels: { [labelMcsService]: 'theirs' } } }),
    ],
    [
      'ours, moved to another Service',
      'PUT',
      own,
      (held) => taken(held, { metadata: { labels: { [labelServiceName]: derivedName('shop', 'theirs') } } }),
    ],
    [
      'ours, made one of a Service that opts in',
      'PUT',
      own,
      (held) =>
        taken(held, {
          endpoints: [endpoint('10.2.0.1', podIn('shop'))],
          metadata: { labels: { [labelSliceManagedBy]: optInManagedBy } },
        }),
    ],
    [
      'ours, made one of the built-in controller',
      'PUT',
      own,
      (held) =>
        taken(held, {
          endpoints: [endpoint('10.2.0.1', podIn('shop'))],
          metadata: { labels: { [labelSliceManagedBy]: slicesManagedBy } },
        }),
    ],
    ['ours, by a patch', 'PATCH', own, { endpoints: [] }],
    [
      'ours, by apply',
      'PATCH',
      `${slices('shop', 'applied')}?fieldManager=w`,
      slice({ metadata: { name: 'applied', generateName: undefined } }),
    ],
    ['all slices of a namespace, deleted at once', 'DELETE', slices('shop')],
    [
      'a slice of another implementation, taken',
      'PUT',
      slices('shop', 'of-theirs'),
      (held) => taken(held, slice({ metadata: { name: 'of-theirs' } })),
    ],
    ['a slice of another implementation, deleted', 'DELETE', slices('shop', 'of-theirs')],
    [
      'a slice of the built-in controller, made an import’s',
      'PUT',
      slices('shop', 'built-in'),
      (held) => taken(held, { metadata: { labels: labelsOf('web', 'b', importsManagedBy) } }),
    ],
    [
      'a slice of the built-in controller that says to be of another cluster',
      'PUT',
      slices('shop', 'built-in'),
      (held) => taken(held, { metadata: { labels: { [labelSourceCluster]: 'b' } } }),
    ],
    [
      'a slice of a Service that opts in, with an address of another cluster and no pod',
      'POST',
      slices('shop'),
      slice({ labels: { [labelSliceManagedBy]: optInManagedBy } }),
    ],
    [
      'a slice of a Service that opts in that says to be of another cluster',
      'POST',
      slices('shop'),
      slice({
        labels: { [labelSliceManagedBy]: optInManagedBy },
        endpoints: [endpoint('10.2.0.1', podIn('shop'))],
      }),
    ],
  ],
  // Namespaces
  () => ['closed', 'other', 'default', 'kube-system', 'fleet-endpoints'].flatMap(intoNamespace),
  // Services
  () => [
    [
      'a Service of a user’s name',
      'POST',
      services('shop'),
      derived('shop', 'web', { metadata: { name: 'payments' } }),
    ],
    [
      'a Service of a name that only begins like a derived one',
      'POST',
      services('shop'),
      derived('shop', 'web', { metadata: { name: 'derived-payments' } }),
    ],
    [
      'a Service with a name by the API server',
      'POST',
      services('shop'),
      derived('shop', 'web', { metadata: { name: undefined, generateName: 'derived-' } }),
    ],
    [
      'a derived Service without an import',
      'POST',
      services('shop'),
      derived('shop', 'new', { metadata: { labels: { [importManagedBy.key]: importManagedBy.value } } }),
    ],
    [
      'a derived Service without our label',
      'POST',
      services('shop'),
      derived('shop', 'new', { metadata: { labels: { [labelMcsService]: 'new' } } }),
    ],
    [
      'a derived Service that nothing owns',
      'POST',
      services('shop'),
      derived('shop', 'new', { metadata: { ownerReferences: undefined } }),
    ],
    [
      'a derived Service that another import owns',
      'POST',
      services('shop'),
      derived('shop', 'new', { metadata: { ownerReferences: [ownedBy('ServiceImport', 'web')] } }),
    ],
    [
      'a derived Service with a second owner',
      'POST',
      services('shop'),
      derived('shop', 'new', {
        metadata: {
          ownerReferences: [
            ownedBy('ServiceImport', 'new'),
            { ...ownedBy('Service', 'mine'), controller: false },
          ],
        },
      }),
    ],
    [
      'a derived Service with a selector',
      'POST',
      services('shop'),
      derived('shop', 'new', { spec: { selector: { app: 'mine' } } }),
    ],
    [
      'a derived Service with an external address',
      'POST',
      services('shop'),
      derived('shop', 'new', { spec: { externalIPs: [elsewhere] } }),
    ],
    [
      'a derived Service of type ExternalName',
      'POST',
      services('shop'),
      derived('shop', 'new', { spec: { type: 'ExternalName', externalName: 'example.com' } }),
    ],
    [
      'a derived Service of type LoadBalancer',
      'POST',
      services('shop'),
      derived('shop', 'new', { spec: { type: 'LoadBalancer' } }),
    ],
    [
      'a derived Service of type NodePort',
      'POST',
      services('shop'),
      derived('shop', 'new', { spec: { type: 'NodePort' } }),
    ],
    [
      'a derived Service with a finalizer',
      'POST',
      services('shop'),
      derived('shop', 'new', { metadata: { finalizers: ['example.com/stay'] } }),
    ],
    [
      'a derived Service that asks another controller for a DNS record',
      'POST',
      services('shop'),
      derived('shop', 'new', {
        metadata: { annotations: { 'external-dns.alpha.kubernetes.io/hostname': 'payments.example.com' } },
      }),
    ],
    [
      'a derived Service that opts in, and would select pods',
      'POST',
      services('shop'),
      derived('shop', 'new', { metadata: { annotations: { 'fleet-endpoints/selector': 'app=mine' } } }),
    ],
    [
      'a derived Service with a label that others go by',
      'POST',
      services('shop'),
      derived('shop', 'new', {
        metadata: {
          labels: {
            [labelMcsService]: 'new',
            [importManagedBy.key]: importManagedBy.value,
            'service.kubernetes.io/service-proxy-name': 'x',
          },
        },
      }),
    ],
    [
      'our derived Service, with a selector',
      'PUT',
      ownDerived,
      (held) => ofSpec(held, { selector: { app: 'mine' } }),
    ],
    [
      'our derived Service, with an external address',
      'PUT',
      ownDerived,
      (held) => ofSpec(held, { externalIPs: [elsewhere] }),
    ],
    [
      'our derived Service, annotated',
      'PUT',
      ownDerived,
      (held) => taken(held, { metadata: { annotations: { 'fleet-endpoints/selector': 'app=mine' } } }),
    ],
    [
      'our derived Service, given to another import',
      'PUT',
      ownDerived,
      (held) => taken(held, { metadata: { labels: { [labelMcsService]: 'theirs' } } }),
    ],
    [
      'our derived Service, given to another import with its owner',
      'PUT',
      ownDerived,
      (held) =>
        taken(held, {
          metadata: {
            labels: { [labelMcsService]: 'theirs' },
            ownerReferences: [ownedBy('ServiceImport', 'theirs')],
          },
        }),
    ],
    [
      'our derived Service, without its owner',
      'PUT',
      ownDerived,
      (held) => taken(held, { metadata: { ownerReferences: undefined } }),
    ],
    ['our derived Service, by a patch', 'PATCH', ownDerived, { spec: { selector: { app: 'mine' } } }],
    [
      'the status of our derived Service',
      'PATCH',
      `${ownDerived}/status`,
      { status: { loadBalancer: { ingress: [{ ip: elsewhere }] } } },
    ],
    [
      'a user’s Service',
      'PUT',
      services('shop', 'mine'),
      (held) => ofSpec(held, { selector: { app: 'other' } }),
    ],
    [
      'a user’s Service, made ours',
      'PUT',
      services('shop', 'mine'),
      (held) =>
        taken(held, {
          metadata: {
            labels: derived('shop', 'web').metadata.labels,
            ownerReferences: [ownedBy('ServiceImport', 'web')],
          },
        }),
    ],
    ['a user’s Service, deleted', 'DELETE', services('shop', 'mine')],
    [
      'a user’s Service that is named like a derived one',
      'PUT',
      services('shop', 'derived-0123456789'),
      (held) =>
        taken(held, {
          metadata: {
            labels: derived('shop', 'web').metadata.labels,
            ownerReferences: [ownedBy('ServiceImport', 'web')],
          },
        }),
    ],
    [
      'a user’s Service that is named like a derived one, deleted',
      'DELETE',
      services('shop', 'derived-0123456789'),
    ],
    [
      'a derived Service of another implementation',
      'PUT',
      services('shop', derivedName('shop', 'theirs')),
      (held) => taken(held, { metadata: { labels: { [importManagedBy.key]: importManagedBy.value } } }),
    ],
    [
      'a derived Service of another implementation, deleted',
      'DELETE',
      services('shop', derivedName('shop', 'theirs')),
    ],
    ['all Services of a namespace, deleted at once', 'DELETE', services('shop')],
    [
      'the API server’s own Service',
      'PUT',
      services('default', 'kubernetes'),
      (held) => ofSpec(held, { selector: { app: 'mine' } }),
    ],
    ['the API server’s own Service, deleted', 'DELETE', services('default', 'kubernetes')],
  ],
  // ServiceImports and ServiceExports
  () => [
    [
      'an import without our label',
      'POST',
      imports('shop'),
      anImport('shop', 'new', { metadata: { labels: {} } }),
    ],
    [
      'an import of another set',
      'POST',
      imports('shop'),
      anImport('shop', 'new', {
        metadata: {
          annotations: {
            [annotationDerivedService]: derivedName('shop', 'new'),
            [annotationClusterset]: 'staging',
          },
        },
      }),
    ],
    [
      'an import that names a user’s Service',
      'POST',
      imports('shop'),
      anImport('shop', 'new', {
        metadata: { annotations: { [annotationDerivedService]: 'mine', [annotationClusterset]: 'prod' } },
      }),
    ],
    [
      'an import with an address of its own',
      'POST',
      imports('shop'),
      anImport('shop', 'new', { spec: { type: 'ClusterSetIP', ports: [], ips: [elsewhere] } }),
    ],
    [
      'an import with a finalizer',
      'POST',
      imports('shop'),
      anImport('shop', 'new', { metadata: { finalizers: ['example.com/stay'] } }),
    ],
    [
      'an import with an owner',
      'POST',
      imports('shop'),
      anImport('shop', 'new', { metadata: { ownerReferences: [ownedBy('Service', 'mine')] } }),
    ],
    [
      'our import, that names another derived Service',
      'PUT',
      ownImport,
      (held) =>
        taken(held, {
          metadata: { annotations: { [annotationDerivedService]: derivedName('shop', 'theirs') } },
        }),
    ],
    [
      'our import, given away',
      'PUT',
      ownImport,
      (held) => taken(held, { metadata: { labels: { [importManagedBy.key]: 'staff' } } }),
    ],
    ['our import, by a patch', 'PATCH', ownImport, { spec: { ips: [elsewhere] } }],
    [
      'an import of another implementation',
      'PUT',
      imports('shop', 'theirs'),
      (held) => taken(held, anImport('shop', 'theirs')),
    ],
    ['an import of another implementation, deleted', 'DELETE', imports('shop', 'theirs')],
    [
      'the status of another implementation’s import',
      'PATCH',
      `${imports('shop', 'theirs')}/status`,
      { status: { clusters: [{ cluster: 'b' }] } },
    ],
    [
      'an import of another set, taken',
      'PUT',
      imports('shop', 'staging'),
      (held) => taken(held, anImport('shop', 'staging')),
    ],
    ['an import of another set, deleted', 'DELETE', imports('shop', 'staging')],
    ['all imports of a namespace, deleted at once', 'DELETE', imports('shop')],
    [
      'an import by the older version of the API',
      'POST',
      imports('shop').replace('v1beta1', 'v1alpha1'),
      {
        ...anImport('shop', 'new', { metadata: { labels: {} } }),
        apiVersion: 'multicluster.x-k8s.io/v1alpha1',
      },
    ],
    [
      'an export of a derived Service, for a loop',
      'POST',
      exports_('shop'),
      anExport(derivedName('shop', 'web')),
    ],
    [
      'an export, changed',
      'PUT',
      exports_('shop', 'web'),
      (held) => ofSpec(held, { exportedLabels: { a: 'b' } }),
    ],
    ['an export, by a patch', 'PATCH', exports_('shop', 'web'), { spec: { exportedLabels: { a: 'b' } } }],
    ['an export, taken back', 'DELETE', exports_('shop', 'web')],
    [
      'a condition of another controller, changed',
      'PATCH',
      `${exports_('shop', 'web')}/status`,
      { status: { conditions: [condition('Valid'), condition('example.com/Approved', 'False')] } },
    ],
    [
      'a condition of another controller, taken away',
      'PATCH',
      `${exports_('shop', 'web')}/status`,
      { status: { conditions: [condition('Valid')] } },
    ],
    [
      'a condition of another controller, made',
      'PATCH',
      `${exports_('shop', 'web')}/status`,
      {
        status: {
          conditions: [
            condition('Valid'),
            condition('example.com/Approved'),
            condition('example.com/Reviewed'),
          ],
        },
      },
    ],
    ['an export and its status by one write', 'PUT', `${exports_('shop', 'web')}/status`, (held) => held],
    // The rights for imports do not include these.
    [
      'a namespace that is to take imports',
      'PATCH',
      '/api/v1/namespaces/closed',
      { metadata: { labels: { [annotationClusterset]: 'prod' } } },
    ],
    [
      'the CRD',
      'DELETE',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/serviceimports.multicluster.x-k8s.io',
    ],
    [
      'the policies',
      'DELETE',
      '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/fleet-endpoints-writer-imported-slices',
    ],
    [
      'Ingresses',
      'POST',
      '/apis/networking.k8s.io/v1/namespaces/shop/ingresses',
      {
        metadata: { name: 'i' },
        spec: { defaultBackend: { service: { name: 'mine', port: { number: 80 } } } },
      },
    ],
  ],
];

/** Refused by RBAC, by a policy, or for want of such a verb; not because the request makes no sense. */
const isRefusal = ({ status, body }: Answer): boolean =>
  status === 403 || status === 405 || (status === 422 && /ValidatingAdmissionPolicy/.test(body.message));

it('the writer of an importing cluster can change nothing but slices, Services and ServiceImports of its own imports', async () => {
  const before = await everything();
  const accepted: string[] = [];
  for (const [what, method, path, body] of attempts.flatMap((of) => of())) {
    const sent =
      typeof body === 'function' ? body((await call(root, 'GET', path.replace(/\/status$/, ''))).body) : body;
    const answer = await call(writer, method, path, sent);
    if (!isRefusal(answer)) accepted.push(`${what}: ${answer.status} ${answer.body.message ?? ''}`);
  }
  expect(accepted).toEqual([]);
  expect(await everything()).toEqual(before);
});

it('the writer makes, changes and deletes an import with all that belongs to it', async () => {
  const api = httpsClusterApi(await writerConnection(controlPlane), { fieldManager: 'fleet-endpoints-x' });
  try {
    const created = (await api.create('ServiceImport', anImport('shop', 'api'))) as Body;
    uids.set('api', created.metadata.uid);
    const service = (await api.create('Service', derived('shop', 'api'))) as Body;
    uids.set(service.metadata.name, service.metadata.uid);
    const addressed = (await api.replace(
      'ServiceImport',
      ofSpec(created, { ips: service.spec.clusterIPs, ipFamilies: ['IPv4'] }),
    )) as Body;
    expect(addressed.spec.ips).toEqual(service.spec.clusterIPs);

    const owned = (more: Body = {}): Body =>
      slice({
        ...more,
        labels: { ...labelsOf('api', 'b', importsManagedBy), ...more.labels },
        metadata: { ownerReferences: [ownedBy('Service', service.metadata.name)] },
      });
    const many = Array.from({ length: 1000 }, (_, i) =>
      endpoint(`10.3.${1 + Math.floor(i / 250)}.${1 + (i % 250)}`),
    );
    const drafts = [
      owned(),
      owned(ipv6('fd00:2::1')),
      owned({ labels: { [labelSourceCluster]: 'c' }, endpoints: many }),
      owned({ endpoints: null }),
    ];
    for (const draft of drafts) {
      const made_ = (await api.create('EndpointSlice', draft)) as Body;
      const changed = (await api.replace('EndpointSlice', { ...made_, endpoints: [] })) as Body;
      const { name, uid, resourceVersion } = changed.metadata;
      expect(await api.delete('EndpointSlice', 'shop', name, { uid, resourceVersion })).toBe(true);
    }

    const status = {
      clusters: [{ cluster: 'b' }],
      endpointSliceObjects: 'Present',
      conditions: [condition('Ready')],
    };
    await api.patchStatus('ServiceImport', 'shop', 'api', status as Body);
    await api.patchStatus('ServiceExport', 'shop', 'web', {
      conditions: [
        condition('example.com/Approved'),
        condition('Valid', 'False'),
        condition('Ready', 'False'),
        condition('Conflict', 'False'),
      ],
    } as Body);

    const changed = (await api.replace(
      'Service',
      ofSpec(service, { ports: [{ name: 'http', port: 81, targetPort: 81 }], sessionAffinity: 'ClientIP' }),
    )) as Body;
    await api.delete('Service', 'shop', changed.metadata.name, {
      uid: changed.metadata.uid,
      resourceVersion: changed.metadata.resourceVersion,
    });
    await api.create('Service', derived('shop', 'api', { spec: { clusterIP: 'None' } }));
    const { uid, resourceVersion } = ((await api.get('ServiceImport', 'shop', 'api')) as Body).metadata;
    expect(await api.delete('ServiceImport', 'shop', 'api', { uid, resourceVersion })).toBe(true);
  } finally {
    api.close();
  }
});

it('the writer reverts a user’s changes of a derived Service, and keeps additions', async () => {
  const spoilt = ofSpec((await call(root, 'GET', ownDerived)).body, {
    selector: { app: 'mine' },
    externalIPs: [elsewhere],
  });
  const added = taken(spoilt, {
    metadata: {
      annotations: { 'example.com/note': 'x' },
      labels: { team: 'maps' },
      finalizers: ['example.com/kept'],
    },
  });
  const held = (await call(root, 'PUT', ownDerived, added)).body;
  expect(held.spec.selector).toEqual({ app: 'mine' });
  const { selector: _, externalIPs: __, ...spec } = held.spec;
  expect(await call(writer, 'PUT', ownDerived, { ...held, spec })).toMatchObject({ status: 200 });
  await call(root, 'PATCH', ownDerived, {
    metadata: { finalizers: null, labels: { team: null }, annotations: null },
  });
});

const managedLabel = importManagedBy.key;
it.each<[string, () => string, Body, number]>([
  [
    'the label of a derived Service that names its import',
    () => ownDerived,
    { labels: { [labelMcsService]: null } },
    200,
  ],
  ['the owner of a derived Service', () => ownDerived, { ownerReferences: null }, 200],
  [
    'our label of a derived Service, which could be another implementation’s then',
    () => ownDerived,
    { labels: { [managedLabel]: null } },
    422,
  ],
  [
    'label and owner of a derived Service',
    () => ownDerived,
    { labels: { [labelMcsService]: null }, ownerReferences: null },
    422,
  ],
  ['the label of an import', () => ownImport, { labels: { [managedLabel]: 'Helm' } }, 200],
  ['the annotations of an import', () => ownImport, { annotations: null }, 200],
  ['label and annotations of an import', () => ownImport, { labels: null, annotations: null }, 422],
  [
    'the set of an import, for another one',
    () => ownImport,
    { annotations: { [annotationClusterset]: 'staging' } },
    422,
  ],
])(
  'the writer restores %s, if the remaining marks prove its ownership',
  async (_, path, metadata, status) => {
    const before = (await call(root, 'GET', path())).body;
    const { resourceVersion } = (await call(root, 'PATCH', path(), { metadata })).body.metadata;
    const putBack = { ...before, metadata: { ...before.metadata, resourceVersion } };
    expect(await call(writer, 'PUT', `${path()}?dryRun=All`, putBack)).toMatchObject({ status });
    const { labels, annotations = null, ownerReferences = null } = before.metadata;
    await call(root, 'PATCH', path(), { metadata: { labels, annotations, ownerReferences } });
  },
);

it('a derived Service whose import is not named any more is given to no other import', async () => {
  const before = (await call(root, 'GET', ownDerived)).body;
  const bare = (await call(root, 'PATCH', ownDerived, { metadata: { labels: { [labelMcsService]: null } } }))
    .body;
  const other = {
    labels: { [labelMcsService]: 'theirs' },
    ownerReferences: [ownedBy('ServiceImport', 'web'), ownedBy('ServiceImport', 'theirs')],
  };
  other.ownerReferences[1] = { ...ownedBy('ServiceImport', 'theirs'), controller: false };
  expect(
    await call(writer, 'PUT', `${ownDerived}?dryRun=All`, taken(bare, { metadata: other })),
  ).toMatchObject({ status: 422 });
  await call(root, 'PATCH', ownDerived, { metadata: { labels: before.metadata.labels } });
});

it('if all namespaces take imports, those of Kubernetes and of the relay take none', async () => {
  await applyAccess(controlPlane, tasks, {
    imports: { cluster: 'a', set: 'prod', sameness: 'all', sources },
  });
  const dry = (namespace: string): Promise<Answer> =>
    call(writer, 'POST', `${imports(namespace)}?dryRun=All`, anImport(namespace, 'new'));
  await vi.waitFor(async () => expect(await dry('closed')).toMatchObject({ status: 201 }), {
    timeout: 30_000,
    interval: 200,
  });
  for (const namespace of ['default', 'kube-system', 'fleet-endpoints'])
    expect(await dry(namespace)).toMatchObject({ status: 422 });
});

it('an endpoint names its node only in slices of the importing cluster itself', async () => {
  await applyAccess(controlPlane, tasks, {
    imports: { cluster: 'b', set: 'prod', sameness: 'labelled', sources },
  });
  const named = (source: string, address: string): Body =>
    slice({
      labels: { [labelSourceCluster]: source },
      endpoints: [endpoint(address, { nodeName: 'node-1' })],
    });
  const dry = (body: Body): Promise<Answer> => call(writer, 'POST', `${slices('shop')}?dryRun=All`, body);
  await vi.waitFor(async () => expect(await dry(named('b', '10.2.0.1'))).toMatchObject({ status: 201 }), {
    timeout: 30_000,
    interval: 200,
  });
  expect(await dry(named('c', '10.3.0.1'))).toMatchObject({ status: 422 });
});

it('without an exporting cluster the writer imports nothing', async () => {
  await applyAccess(controlPlane, tasks, {
    imports: { cluster: 'a', set: 'prod', sameness: 'labelled', sources: {} },
  });
  const dry = (body: Body): Promise<Answer> => call(writer, 'POST', `${slices('shop')}?dryRun=All`, body);
  await vi.waitFor(async () => expect(await dry(slice())).toMatchObject({ status: 422 }), {
    timeout: 30_000,
    interval: 200,
  });
  expect(await dry(slice())).toMatchObject({
    body: { message: expect.stringContaining('the source cluster is none that this cluster imports from') },
  });
});

it('a cluster whose API lacks ServiceCIDR, as before 1.33, takes imports', async () => {
  const policies = writerPolicies('fleet-endpoints', tasks, importing).filter(
    (m) => m.metadata.name === 'fleet-endpoints-writer-import-addresses',
  );
  await applyManifests(
    controlPlane,
    JSON.parse(JSON.stringify(policies).replaceAll('"ServiceCIDR"', '"NoSuchKind"')),
  );
  const wrong = ofSpec((await call(root, 'GET', imports('shop', 'web'))).body, { ips: [elsewhere] });
  const attempt = (): Promise<Answer> => call(writer, 'PUT', `${imports('shop', 'web')}?dryRun=All`, wrong);
  await vi.waitFor(async () => expect(await attempt()).toMatchObject({ status: 200 }), {
    timeout: 30_000,
    interval: 200,
  });
});
