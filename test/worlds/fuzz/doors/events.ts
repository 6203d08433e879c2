/**
 * Messages in the events queue of a cluster, from their parser through ingest to the runs and the sweeps that
 * follow.
 */
import fc, { type Arbitrary } from 'fast-check';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { allKinds, type InputKind, type Kind } from '#shared/kube/types.ts';
import { readEvents } from '#shared/queue/events.ts';
import { messageVersion } from '#shared/queue/messages.ts';
import { bodiesOf, type HostileBody, hostileBody } from '../bodies.ts';
import type { Door } from '../door.ts';
import { ensureServed, ensureUnharmed, newestAttack, startFleet, watchOthers } from '../fleet.ts';
import {
  anyJson,
  deepJson,
  hostileNumber,
  hostileText,
  mostly,
  mutated,
  someLabels,
  someMutations,
  someName,
} from '../hostile.ts';

/** Older than what the cluster itself sends: an attack must not outdo the true state of the same object. */
const version = mostly(
  fc.integer({ min: 1, max: newestAttack }).map(String),
  fc.constantFrom('0', '01', '-1', '1e9'),
);
const objectVersion = mostly(fc.oneof(version, fc.constant('9'.repeat(39))), fc.constant('1'.repeat(40)));

const ips = fc.array(
  mostly(fc.constantFrom('10.9.0.1', 'fd00::1', '999.1.1.1', '10.0.0.1/8', 'fe80::1%eth0', ''), hostileText),
  { maxLength: 3 },
);
const metadata = {
  labels: someLabels,
  annotations: someLabels,
  uid: someName,
  creationTimestamp: mostly(fc.constant('2026-01-01T00:00:00Z'), hostileText),
};

const objects: { readonly [K in InputKind]: Arbitrary<object> } = {
  Pod: fc.record({
    metadata: fc.record(metadata),
    spec: fc.record({
      nodeName: someName,
      hostname: someName,
      subdomain: someName,
      containers: fc.constant([]),
    }),
    status: fc.record({
      phase: mostly(fc.constant('Running'), hostileText),
      podIPs: ips.map((all) => all.map((ip) => ({ ip }))),
      podIP: mostly(fc.constant('10.9.0.1'), hostileText),
    }),
  }),
  Service: fc.record({
    metadata: fc.record(metadata),
    spec: fc.record({
      selector: mostly(fc.constant({ app: 'web' }), someLabels),
      type: mostly(fc.constantFrom('ClusterIP', 'ExternalName'), hostileText),
      clusterIP: mostly(fc.constantFrom('10.96.0.7', 'None'), hostileText),
      ipFamilies: fc.array(mostly(fc.constantFrom('IPv4', 'IPv6'), hostileText), { maxLength: 3 }),
      ports: fc.array(
        fc.record({
          name: someName,
          port: mostly(fc.constant(80), hostileNumber),
          targetPort: mostly(fc.constantFrom<number | string>(8080, 'http'), hostileText),
          protocol: fc.constantFrom('TCP', 'X'),
        }),
        {
          maxLength: 3,
        },
      ),
      trafficDistribution: mostly(fc.constant('PreferClose'), hostileText),
    }),
  }),
  Node: fc.record({
    metadata: fc.record(metadata),
    status: fc.record({
      allocatable: fc.dictionary(fc.constant('cpu'), mostly(fc.constantFrom('4', '3920m'), hostileText)),
      conditions: fc.constant([]),
    }),
  }),
  Namespace: fc.record({ metadata: fc.record(metadata) }),
  ServiceExport: fc.record({
    metadata: fc.record(metadata),
    spec: fc.record({ exportedLabels: someLabels, exportedAnnotations: someLabels }),
  }),
  ServiceImport: fc.record({ metadata: fc.record(metadata), spec: fc.constant({}) }),
};

/** The text that a relay sends of an object, or would if it were another program. */
const projectionOf = (kind: InputKind): Arbitrary<unknown> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(objects[kind], someMutations).map(([object, changes]) => {
        const named = {
          ...object,
          metadata: { ...(object as { readonly metadata: object }).metadata, name: 'x', namespace: 'shop' },
        };
        return JSON.stringify(mutated(JSON.parse(encodeProjection(kind, named)), changes));
      }),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(
        '[]',
        '[',
        '{}',
        'null',
        deepJson,
        `["u",0,{},{},0,${deepJson}]`,
        `["u",{"a":${deepJson}},[],"",1,[],1,0]`,
      ),
    },
    { weight: 1, arbitrary: anyJson },
  );

const isOutput = (kind: Kind): kind is 'Endpoints' | 'EndpointSlice' =>
  kind === 'Endpoints' || kind === 'EndpointSlice';
const namespaceOf = (kind: Kind): Arbitrary<string> =>
  kind === 'Node' || kind === 'Namespace'
    ? fc.constant('')
    : mostly(fc.constantFrom('shop', 'shop', 'other'), someName);

const entryOf = (kind: Kind): Arbitrary<object> =>
  isOutput(kind)
    ? fc.record(
        {
          namespace: namespaceOf(kind),
          name: someName,
          resourceVersion: objectVersion,
          uid: someName,
          service: mostly(fc.constantFrom('web', ''), someName),
          generation: mostly(fc.nat(), hostileNumber),
          formerService: someName,
          managedBy: mostly(
            fc.constantFrom('endpointslice-controller.k8s.io', 'endpoint-controller', 'fleet-endpoints'),
            hostileText,
          ),
          isOwnWrite: fc.constantFrom(true, 1),
          deleted: fc.constantFrom(true, 'x'),
          leader: fc.constant(true),
          secondLook: fc.constant(true),
          object: anyJson,
          observedAtMs: mostly(fc.nat(), hostileText),
        },
        { requiredKeys: ['namespace', 'name', 'resourceVersion', 'uid', 'service'] },
      )
    : fc.record(
        {
          namespace: namespaceOf(kind),
          name: someName,
          resourceVersion: objectVersion,
          projection: projectionOf(kind),
          observedAtMs: mostly(fc.nat(), hostileText),
        },
        { requiredKeys: ['namespace', 'name', 'resourceVersion'] },
      );

const entriesOf = (kind: Kind): Arbitrary<readonly object[]> =>
  fc.oneof(
    { weight: 30, arbitrary: fc.array(entryOf(kind), { maxLength: 4 }) },
    // Copies of one object, each under another name. Each Service and export has runs of its own, which takes
    // time.
    {
      weight: 1,
      arbitrary: entryOf(kind).map((entry) => {
        const length = kind === 'Service' || kind === 'ServiceExport' ? 50 : 2_000;
        return Array.from({ length }, (_, i) => ({ ...entry, name: `many-${String(i).padStart(4, '0')}` }));
      }),
    },
  );

const someKind = fc.constantFrom(...allKinds);
const key = mostly(fc.constantFrom('', 'shop/web', 'shop/x', '/x'), hostileText);
const counted = { run: mostly(fc.nat(20), hostileNumber) };

const live = someKind.chain((kind) =>
  fc.record(
    {
      type: fc.constant('live'),
      kind: fc.constant(kind),
      asOf: version,
      entries: entriesOf(kind),
      ...counted,
    },
    { requiredKeys: ['type', 'kind', 'asOf', 'entries'] },
  ),
);
const list = someKind.chain((kind) =>
  fc.record(
    {
      type: fc.constant('list'),
      kind: fc.constant(kind),
      asOf: version,
      entries: entriesOf(kind),
      listId: someName,
      partNumber: mostly(fc.nat(3), hostileNumber),
      from: key,
      to: key,
      isLast: fc.constant(true),
      progress: fc.record(
        { entries: mostly(fc.nat(5), hostileNumber), services: mostly(fc.constant('shop/web'), hostileText) },
        { requiredKeys: ['entries'] },
      ),
      ...counted,
    },
    { requiredKeys: ['type', 'kind', 'asOf', 'entries', 'listId', 'partNumber', 'from', 'to'] },
  ),
);
const heartbeat = fc.record({
  type: fc.constant('heartbeat'),
  readUpTo: fc.dictionary(mostly(someKind, hostileText), version, { maxKeys: 3 }),
  sentAtMs: mostly(fc.nat(), hostileNumber),
});

const message = fc.oneof(
  { weight: 5, arbitrary: live },
  { weight: 3, arbitrary: list },
  { weight: 1, arbitrary: heartbeat },
);

/**
 * Returns true if the cluster's own relay may take endpoints away by this body: sweep decides which of two
 * sessions counts, and the hub ignores the lists after the attack if the body claims a newer version.
 */
function mayWithdraw(body: string): boolean {
  try {
    const message = readEvents(body);
    return message.session !== 's1' || ('asOf' in message && Number(message.asOf) > newestAttack);
  } catch {
    return false;
  }
}

export const events: Door<readonly HostileBody[]> = {
  name: 'events',
  cases: 15,
  values: fc.array(hostileBody(message), { minLength: 1, maxLength: 5 }),
  async check(value) {
    const world = await startFleet();
    const ensureOthers = watchOthers(world);
    const uid = world.of('a').store.get('Namespace', '', 'kube-system').metadata.uid;
    const bodies = bodiesOf(value, {
      v: messageVersion,
      cluster: 'a',
      session: 's1',
      uid,
      firstListVersion: '50',
    });
    await world.of('a').queues.events.send(bodies.map((body) => ({ body })));
    await world.pass(1);
    ensureOthers();
    await ensureUnharmed(world);
    if (!bodies.some(mayWithdraw)) ensureServed(world, 'a');
    ensureServed(world, 'c');
  },
};
