/**
 * Invalid messages and objects, end to end: unreadable messages are quarantined, and all others are handled.
 */
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { Pod } from '#shared/kube/types.ts';
import { decodeMessage, encodeMessage, UnreadableMessage } from '#shared/queue/codec.ts';
import { messageVersion } from '#shared/queue/messages.ts';
import { parseEventsMessage, readWakeUp } from '#shared/queue/parse.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';

const header = { v: messageVersion, cluster, session: 's1', uid: 'u', firstListVersion: '1' };
const live = (entry: object, kind = 'Pod') => ({
  ...header,
  type: 'live',
  kind,
  asOf: '900000',
  entries: [entry],
});
const wakeUp = {
  v: messageVersion,
  cluster,
  namespace: 'default',
  kind: 'service',
  name: 'svc',
  generation: 1,
  retryNumbers: { endpoints: 0, slices: 0 },
};
const mebibyte = (character: string) =>
  character.repeat(Math.floor((1024 * 1024) / Buffer.byteLength(character)));
const podText = encodeProjection('Pod', aPod(0) as unknown as Pod);

const unreadable: readonly (readonly [what: string, body: string, reason: string])[] = [
  ['text', 'hello', 'message is not JSON'],
  [
    'half of a message',
    JSON.stringify(live({ namespace: 'default', name: 'x', resourceVersion: '1' })).slice(0, 90),
    'message is not JSON',
  ],
  ['null', 'null', 'message is null: an object is needed'],
  ['a list', '[]', 'message is []: an object is needed'],
  ['a number', '7', 'message is 7: an object is needed'],
  ['a mebibyte of text', mebibyte('x'), 'message is not JSON: "xxx'],
  ['a mebibyte of wide characters', mebibyte('\u{1F600}'), 'message is not JSON: "\u{1F600}'],
  ['a mebibyte of brackets', mebibyte('['), 'message has 1048576 values'],
  [
    'lists within lists, more than a stack has room for',
    '['.repeat(20_000) + ']'.repeat(20_000),
    'message is nested too deeply',
  ],
  ['what is not deflated', 'z:AAAA', 'compressed message does not inflate to text'],
  [
    'a list of a million objects in a few bytes',
    `z:${deflateRawSync(`[${'{},'.repeat(1_000_000)}{}]`).toString('base64')}`,
    'message has 2000002 values',
  ],
  ['what is not base64', 'z:***', 'compressed message is not base64'],
  [
    'a version that is not known',
    JSON.stringify({ ...wakeUp, ...live({}), v: 2 }),
    'v is 2: this version reads 1',
  ],
  ['no version', '{}', 'v is missing: this version reads 1'],
  ['a prototype', '{"__proto__":{"v":1,"cluster":"c"}}', 'v is missing: this version reads 1'],
];
const unreadableEvents: readonly (readonly [what: string, message: object, reason: string])[] = [
  [
    "another cluster's",
    { ...live({ namespace: 'default', name: 'x', resourceVersion: '1' }), cluster: 'other' },
    'message names cluster other',
  ],
  [
    'a kind that is not known',
    live({ namespace: 'default', name: 'x', resourceVersion: '1' }, '__proto__'),
    'kind is "__proto__"',
  ],
  [
    'a name of 254 characters',
    live({ namespace: 'default', name: 'x'.repeat(254), resourceVersion: '1' }),
    'name is "xxx',
  ],
  [
    'a name with an escape sequence',
    live({ namespace: 'default', name: '\u001b]0;owned\u0007x', resourceVersion: '1' }),
    'name is "\\u001b]0;owned',
  ],
  [
    'a namespace with a control character of the upper half',
    live({ namespace: 'a\u009b2Jb', name: 'x', resourceVersion: '1' }),
    'namespace is "a\\u009b2Jb"',
  ],
  [
    'a session with a line end',
    { ...live({ namespace: 'default', name: 'x', resourceVersion: '1' }), session: 's\n1' },
    'session is "s\\n1"',
  ],
  [
    'a service of a slice with an escape sequence',
    live(
      { namespace: 'default', name: 'x', resourceVersion: '1', uid: 'u', service: 'a\u001b[2J' },
      'EndpointSlice',
    ),
    'service is "a\\u001b[2J"',
  ],
  [
    'a manager of a slice with an escape sequence',
    live(
      {
        namespace: 'default',
        name: 'x',
        resourceVersion: '1',
        uid: 'u',
        service: 'a',
        managedBy: '\u001b[2J',
      },
      'EndpointSlice',
    ),
    'managedBy is "\\u001b[2J"',
  ],
  ['no name', live({ namespace: 'default', name: '', resourceVersion: '1' }), 'name is ""'],
  ['a name that is a number', live({ namespace: 'default', name: 7, resourceVersion: '1' }), 'name is 7'],
  [
    'a resourceVersion that is no number',
    live({ namespace: 'default', name: 'x', resourceVersion: '1e9' }),
    'resourceVersion is "1e9"',
  ],
  [
    'a resourceVersion of 40 digits',
    live({ namespace: 'default', name: 'x', resourceVersion: '1'.repeat(40) }),
    'resourceVersion is "1111',
  ],
  [
    'no projection',
    live({ namespace: 'default', name: 'x', resourceVersion: '1', projection: '[' }),
    'projection is "["',
  ],
  ['entries that are no list', { ...live({}), entries: { length: 1 } }, 'entries is {"length":1}'],
  [
    'a type that is not known',
    { ...live({ namespace: 'default', name: 'x', resourceVersion: '1' }), type: 'constructor' },
    'type is "constructor"',
  ],
];
const unreadableWakeUps: readonly (readonly [what: string, message: object])[] = [
  ["another cluster's", { ...wakeUp, cluster: 'other' }],
  ['a generation below nothing', { ...wakeUp, generation: -1 }],
  ['a part that is not known', { ...wakeUp, retryNumbers: { __proto__: null, constructor: 1 } }],
  ['no name', { ...wakeUp, name: undefined }],
  ['a kind that is not known', { ...wakeUp, kind: 'pod' }],
  ['a name with an escape sequence', { ...wakeUp, name: 'a\u001b[2J' }],
];

async function started() {
  const small = await smallCluster([aService(), ...pods(2)]);
  await small.pass(8);
  expect(ips(small.world)).toEqual(['10.1.0.1', '10.1.0.2']);
  return small;
}

const ips = ({ store }: HubWorld, name = 'svc'): readonly string[] => {
  const endpoints = store.find('Endpoints', 'default', name);
  return (endpoints?.subsets ?? []).flatMap((s) => (s.addresses ?? []).map((a) => a.ip)).sort();
};
const sliceIps = ({ store }: HubWorld, name = 'svc'): readonly string[] =>
  store
    .list('EndpointSlice', 'default')
    .filter((s) => s.metadata.labels?.['kubernetes.io/service-name'] === name)
    .flatMap((s) => (s.endpoints ?? []).flatMap((e) => e.addresses))
    .sort();
const reasons = (world: HubWorld): readonly string[] =>
  world.queues.quarantine.waiting().map((m) => (decodeMessage(m.body) as { readonly reason: string }).reason);
const nothingElseIsLeft = ({ queues: { events, syncs, deadEvents, deadSyncs, parked } }: HubWorld): void => {
  for (const queue of [events, syncs, deadEvents, deadSyncs, parked]) expect(queue.waiting()).toEqual([]);
};

it('an unreadable events message is quarantined with its reason, and the rest of its batch is applied', async () => {
  const { world, pass } = await started();
  const bodies = [
    ...unreadable.map(([, body]) => body),
    ...unreadableEvents.map(([, message]) => JSON.stringify(message)),
  ];
  // In one batch with nine of them.
  world.store.create('Pod', 'default', aPod(2));
  await world.queues.events.send(bodies.map((body) => ({ body })));
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(120);
  expect(reasons(world)).toHaveLength(bodies.length);
  for (const [what, , reason] of [...unreadable, ...unreadableEvents])
    expect(reasons(world), what).toContainEqual(expect.stringContaining(reason));
  expect(world.metrics.get('Quarantined')).toBe(bodies.length);
  expect(ips(world)).toEqual(['10.1.0.2']);
  nothingElseIsLeft(world);
});

it('an unreadable wake-up is quarantined with its reason, and the rest of its batch is handled', async () => {
  const { world, pass } = await started();
  const bodies = [
    ...unreadable.map(([, body]) => body),
    ...unreadableWakeUps.map(([, message]) => JSON.stringify(message)),
  ];
  await world.queues.syncs.send(bodies.map((body) => ({ body })));
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(120);
  expect(reasons(world)).toHaveLength(bodies.length);
  expect(world.metrics.get('Quarantined')).toBe(bodies.length);
  expect(ips(world)).toEqual(['10.1.0.2']);
  nothingElseIsLeft(world);
});

const hostileNames = [
  'x'.repeat(253),
  '#',
  'a#b',
  '/',
  'a/b',
  '..',
  '%',
  '%2F',
  '__proto__',
  'constructor',
  '\u0000',
  'a\nb',
  '\ud800',
  '\uffff',
  'é'.repeat(253),
  '\u{1F600}',
];

it('names that Kubernetes would not allow are kept apart, and affect no other object', async () => {
  const { world, pass } = await started();
  for (const [i, name] of hostileNames.entries()) {
    const resourceVersion = String(900_001 + i);
    for (const kind of ['Pod', 'Service', 'Node']) {
      const message = {
        ...live(
          {
            namespace: kind === 'Node' ? '' : name,
            name,
            resourceVersion,
            ...(kind === 'Pod' && { projection: podText }),
          },
          kind,
        ),
        asOf: resourceVersion,
      };
      await world.queues.events.send([{ body: encodeMessage(message) }]);
    }
    const output = { namespace: name, name, resourceVersion, uid: 'u', service: name };
    for (const kind of ['Endpoints', 'EndpointSlice'])
      await world.queues.events.send([
        { body: encodeMessage({ ...live(output, kind), asOf: resourceVersion }) },
      ]);
    await world.queues.syncs.send([{ body: encodeMessage({ ...wakeUp, namespace: name, service: name }) }]);
  }
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(3600);
  expect(ips(world)).toEqual(['10.1.0.2']);
  nothingElseIsLeft(world);
});

it("another kind's projection spoils its own service and no other", async () => {
  const { world, pass } = await started();
  const message = {
    ...live({ namespace: 'default', name: 'x', resourceVersion: '900001', projection: podText }, 'Service'),
    asOf: '900001',
  };
  await world.queues.events.send([{ body: JSON.stringify(message) }]);
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(120);
  expect(ips(world)).toEqual(['10.1.0.2']);
  expect(world.queues.deadEvents.waiting()).toEqual([]);
});

it('labels that are properties of every object select as any other', async () => {
  const { world, pass } = await started();
  for (const key of ['constructor', 'toString', 'hasOwnProperty']) {
    world.store.create('Service', 'default', {
      metadata: { name: key.toLowerCase() },
      spec: { selector: { [key]: 'a' }, ports: [{ port: 80 }] },
    });
    const pod = {
      ...aPod(4),
      metadata: { ...aPod(4).metadata, name: `with-${key.toLowerCase()}`, labels: { [key]: 'a' } },
    };
    world.store.apply(pod as RawObject);
  }
  await pass(120);
  for (const key of ['constructor', 'tostring', 'hasownproperty'])
    expect(ips(world, key)).toEqual(['10.1.0.5']);
  expect(ips(world)).toEqual(['10.1.0.1', '10.1.0.2']);
  nothingElseIsLeft(world);
});

it.each(['nonsense', '', '999.1.1.1', '10.0.0.01', '::g', '10.0.0.1/8', 'fe80::1%eth0', '\u0000'])(
  'a pod whose IP is %j takes no other pod away from its service',
  async (ip) => {
    const { world, pass } = await started();
    world.store.apply({
      ...aPod(5),
      status: { ...(aPod(5).status as object), podIP: ip, podIPs: [{ ip }] },
    } as RawObject);
    await pass(3600);
    expect(ips(world)).toEqual(expect.arrayContaining(['10.1.0.1', '10.1.0.2']));
    expect(sliceIps(world)).toEqual(expect.arrayContaining(['10.1.0.1', '10.1.0.2']));
    world.store.remove('Pod', 'default', 'pod-0');
    world.store.remove('Pod', 'default', 'pod-5');
    await pass(3600);
    expect(ips(world)).toEqual(['10.1.0.2']);
    expect(sliceIps(world)).toEqual(['10.1.0.2']);
    expect(world.queues.deadSyncs.waiting()).toEqual([]);
  },
);

const parsers = [parseEventsMessage, readWakeUp];
const readsOrRefuses = (body: string): void => {
  for (const parse of parsers) {
    try {
      parse(body);
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
    }
  }
};

it('the parsers read or refuse any body', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), readsOrRefuses), { numRuns: 500 });
  fc.assert(fc.property(fc.json({ maxDepth: 4 }), readsOrRefuses), { numRuns: 500 });
  const base = [
    live({ namespace: 'default', name: 'x', resourceVersion: '7', projection: podText }),
    live({ namespace: 'n', name: 'x', resourceVersion: '7', uid: 'u', service: 's' }, 'EndpointSlice'),
    wakeUp,
  ];
  const fields = [
    'v',
    'cluster',
    'session',
    'firstListVersion',
    'type',
    'kind',
    'asOf',
    'entries',
    'generation',
    'retryNumbers',
    'namespace',
    'name',
    'listId',
    'partNumber',
    'from',
    'to',
    'readUpTo',
  ];
  const changed = fc.record({
    message: fc.constantFrom(...base),
    field: fc.constantFrom(...fields),
    value: fc.jsonValue({ maxDepth: 3 }),
  });
  fc.assert(
    fc.property(changed, ({ message, field, value }) =>
      readsOrRefuses(JSON.stringify({ ...message, [field]: value })),
    ),
    { numRuns: 2000 },
  );
});
