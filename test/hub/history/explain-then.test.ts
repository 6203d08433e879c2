/**
 * `explain --at` and `history` where the hub is not, or was not, the writer of a Service: an answer that is
 * true, or why it is not known.
 */
import { describe, expect, it } from 'vitest';
import { explainThen } from '#infra/cli/ask/explain-then.ts';
import { readRuns } from '#infra/cli/ask/history-service.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { recordAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { beginIncarnation } from '#shared/clusters/relay/sessions.ts';
import type { ChosenMode } from '#shared/clusters/writer/mode.ts';
import { switchMode, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import type { OptIn } from '#shared/controllers/opt-in/writer.ts';
import { labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import {
  aPod,
  aService,
  optedIn,
  ownedByTheService,
  pods,
  type SmallCluster,
  smallCluster,
  startAt,
} from '#test/support/small-cluster.ts';

const key = { cluster, namespace: 'default', name: 'svc' };
const beside = { mode: 'shadow', optIn: 'active' } as const;
const day = 86_400_000;

const then = (world: HubWorld, atMs: number) => explainThen(world.table, key, atMs, world.now);
const told = (world: HubWorld, filter = {}, of = key) =>
  readRuns(world.table, of, { sinceMs: 0, nowMs: world.now }, filter);
const timeText = (ms: number): string => new Date(ms).toISOString();

async function switchTo(world: HubWorld, to: ChosenMode): Promise<void> {
  const from = (await readCluster(world.table, cluster))?.mode ?? 'shadow';
  await switchMode(world.table, cluster, to, world.now);
  await recordAudit(world.table, cluster, {
    at: timeText(world.now),
    who: 'x',
    what: `${from} → ${to}`,
    mode: { from, to },
  });
}

async function switchOptInTo(world: HubWorld, from: OptIn, to: OptIn): Promise<void> {
  await switchOptIn(world.table, cluster, to, world.now);
  await recordAudit(world.table, cluster, {
    at: timeText(world.now),
    who: 'x',
    what: `opt-in ${from} → ${to}`,
    optIn: { from, to },
  });
}

/** As sweep does when it knows. */
async function restored({ table, now }: HubWorld): Promise<void> {
  const record = (await readCluster(table, cluster)) as ClusterRecord;
  await beginIncarnation(
    table,
    record,
    { state: 'unbound', session: 's1', uid: record.uid, sinceMs: now },
    now,
  );
}

const builtInSlice = (addresses: readonly string[]): RawObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    ...{ name: 'svc-built-in', namespace: 'default' },
    labels: { [labelServiceName]: 'svc', [labelSliceManagedBy]: slicesManagedBy },
    ownerReferences: [ownedByTheService],
  },
  addressType: 'IPv4',
  endpoints: addresses.map((a, i) => ({
    ...{ addresses: [a], conditions: { ready: true }, nodeName: 'node-a' },
    targetRef: { kind: 'Pod', namespace: 'default', name: `pod-${i}`, uid: `pod-${i}` },
  })),
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
});

const builtInEndpoints = {
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: {
    name: 'svc',
    namespace: 'default',
    labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
  },
  subsets: [
    {
      addresses: [0, 1].map((i) => ({
        ip: `10.1.0.${i + 1}`,
        targetRef: { kind: 'Pod', namespace: 'default', name: `pod-${i}`, uid: `pod-${i}` },
      })),
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    },
  ],
};
const addresses = ['10.1.0.1', '10.1.0.2'];

describe('a service that is handed over', () => {
  /** A Service of the built-in controllers that opts in after 10 s. */
  async function handedOver(): Promise<SmallCluster> {
    const small = await smallCluster(
      [aService(), ...pods(2), builtInEndpoints, builtInSlice(addresses)],
      beside,
    );
    await small.pass(10);
    small.world.store.apply(optedIn());
    await small.pass(10);
    return small;
  }

  async function handedBack({ world, pass }: SmallCluster): Promise<void> {
    world.store.apply(aService());
    world.store.create('EndpointSlice', 'default', builtInSlice(addresses));
    await pass(10);
  }

  it('the history of a hand-over has the deletions, and the opt-in of the Service', async () => {
    const { world } = await handedOver();
    const run = (await told(world)).runs.at(-1);
    expect(run?.headline).toMatch(/^\S+ wrote 1 slice; deleted Endpoints and 1 slice, /);
    expect(run?.lines).toEqual([
      'pod pod-0: 10.1.0.1 removed from Endpoints, where it was ready: the Service opted in: its Endpoints were deleted',
      'pod pod-1: 10.1.0.2 removed from Endpoints, where it was ready: the Service opted in: its Endpoints were deleted',
      '2 addresses were there already when the hub first looked',
    ]);
  });

  it('the history of a hand-back has the withdrawal of the slices', async () => {
    const small = await handedOver();
    await handedBack(small);
    const run = (await told(small.world)).runs.at(-1);
    expect(run?.headline).toMatch(/^\S+ deleted 1 slice, /);
    expect(run?.lines[0]).toMatch(
      /^pod pod-0: 10.1.0.1 removed from IPv4 slices, where it was ready: handed back to the built-in controllers: the Service has a selector$/,
    );
  });

  it('a time before a Service opted in is not known, one while it did is answered, and one after its hand-back is not known', async () => {
    const small = await handedOver();
    const { world, pass } = small;
    const [before, opted] = [startAt + 5_000, world.now];
    await pass(1);
    await handedBack(small);
    expect(await then(world, before)).toMatchObject({
      isKnown: false,
      summary: expect.stringMatching(/^Not known: the record begins at 2026-01-02T00:00:1\d/),
    });
    const answered = await then(world, opted);
    expect(answered).toMatchObject({ isKnown: true, caveats: [] });
    expect(answered.addresses.map(({ places, address, state }) => [...places, address, state])).toEqual([
      ['IPv4 slices', '10.1.0.1', 'ready'],
      ['IPv4 slices', '10.1.0.2', 'ready'],
    ]);
    const after = await then(world, world.now);
    expect(after).toMatchObject({ isKnown: false, addresses: [], gone: [] });
    expect(after.summary).toMatch(
      /^Not known: served by the built-in controllers since 2026-01-02T00:00:2\S+ \(handed back\); the hub keeps no history of their writes\.$/,
    );
  });

  it.each([
    ['with', pods(2)],
    ['without', []],
  ])(
    'a time after a Service %s pods that opts in was deleted is not known, although the run then neither reads nor writes',
    async (_, its) => {
      const { world, pass } = await smallCluster([optedIn(), ...its], beside);
      await pass(10);
      world.store.remove('Service', 'default', 'svc');
      await pass(20);
      world.store.apply(aService());
      world.store.create('EndpointSlice', 'default', builtInSlice(addresses));
      await pass(20);
      expect(await then(world, world.now)).toMatchObject({
        isKnown: false,
        summary: expect.stringMatching(/^Not known: not written since /),
      });
    },
  );

  it('the time before a Service was found deleted and made again with a selector is uncertain, although no address was listed', async () => {
    const { world, pass } = await smallCluster([optedIn()], beside);
    await pass(10);
    world.store.remove('Service', 'default', 'svc');
    for (const { metadata } of world.store.list('EndpointSlice', 'default'))
      world.store.remove('EndpointSlice', 'default', metadata.name);
    const before = world.now - 1;
    const service = aService();
    world.store.apply({ ...service, metadata: { ...service.metadata, uid: 'again' } });
    await pass(20);
    expect((await then(world, before)).caveats).toEqual([
      expect.stringMatching(/built-in controllers as its writer, since an unknown time$/),
    ]);
  });

  it('a Service that the hub has not written is not known for that reason alone', async () => {
    const { world, pass } = await smallCluster(
      [aService(), ...pods(2), builtInEndpoints, builtInSlice(addresses)],
      beside,
    );
    await pass(10);
    const between = world.now;
    await pass(10);
    await restored(world);
    expect((await then(world, between)).summary).not.toContain('restored');
  });

  it('a time after a hand-back is not known for the restore too, if the hub knew of that later', async () => {
    const small = await handedOver();
    const { world, pass } = small;
    await handedBack(small);
    const between = world.now;
    await pass(60);
    await restored(world);
    expect((await then(world, between)).summary).toMatch(
      /^Not known: served by the built-in controllers since .*; the cluster was restored, or created again, before /,
    );
  });
});

describe('a cluster in shadow mode', () => {
  it('the addresses during shadow mode are unknown, and the history reports that it keeps none', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2), builtInEndpoints], {
      mode: 'shadow',
    });
    await pass(60);
    const shadow = `the cluster was in shadow mode since ${timeText(startAt)}: the hub does not write in it and keeps no history`;
    expect(await then(world, world.now)).toMatchObject({ isKnown: false, summary: `Not known: ${shadow}.` });
    expect(await told(world)).toMatchObject({
      runs: [],
      remarks: ['the cluster is in shadow mode: the hub does not write, so it keeps no history'],
    });
  });

  it('a comparison leaves no record in a cluster whose other Services opt in', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)], beside);
    await pass(60);
    expect(await told(world)).toMatchObject({
      runs: [],
      remarks: [
        'the hub does not write now, so it keeps no history: the Service has a selector, and the cluster is in shadow mode: the hub compares',
      ],
    });
    expect((await then(world, world.now)).summary).toBe(
      'Not known: no record has the hub as its writer, and the cluster is in shadow mode; the hub keeps no history of the built-in controllers.',
    );
  });

  it('a time before the switch to shadow mode is answered, and one after it is not known', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    const active = world.now;
    await pass(8);
    await switchTo(world, 'shadow');
    await pass(8);
    expect(await then(world, active)).toMatchObject({
      isKnown: true,
      caveats: [],
      addresses: [{ address: '10.1.0.1' }, { address: '10.1.0.2' }],
    });
    expect(await then(world, world.now)).toMatchObject({
      isKnown: false,
      summary: expect.stringContaining('in shadow mode since'),
    });
    await switchTo(world, 'active');
    await pass(8);
    expect(await then(world, active)).toMatchObject({ isKnown: true, caveats: [] });
    expect(await then(world, world.now - 9_000)).toMatchObject({
      isKnown: false,
      summary: expect.stringContaining('in shadow mode since'),
    });
    expect(await then(world, world.now)).toMatchObject({ isKnown: true, caveats: [] });
  });
});

it('the addresses during a pause are known, and the answer reports that the history lacks writes of others', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(1)]);
  await pass(8);
  await switchTo(world, 'paused');
  const pausedAt = world.now;
  await pass(8);
  const { isKnown, addresses: listed, caveats } = await then(world, world.now);
  expect([isKnown, listed.map((a) => a.address)]).toEqual([true, ['10.1.0.1']]);
  expect(caveats).toEqual([
    `the cluster was paused since ${timeText(pausedAt)}: the hub wrote nothing, and the history lacks writes of other clients`,
  ]);
});

it('a time after another client had changed an output is uncertain until the run that found it, and a time before is not', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(2)], {
    settings: { batchPeriodSeconds: 5 },
  });
  await pass(20);
  const before = (await told(world)).runs.at(-1)?.atMs as number;
  world.store.patch(
    'Endpoints',
    { namespace: 'default', name: 'svc' },
    { subsets: null },
    { manager: 'kubectl-edit' },
  );
  await pass(1);
  const between = world.now;
  await pass(20);
  expect((await then(world, between)).caveats).toEqual([
    expect.stringMatching(
      /found 2 addresses of Endpoints that another client had changed at an unknown time$/,
    ),
  ]);
  expect((await then(world, before - 1)).isKnown).toBe(false);
  expect((await then(world, world.now)).caveats).toEqual([]);
});

it('a time before the hub knew that the cluster was restored is uncertain, back to the last write before', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(2)]);
  await pass(8);
  const written = world.now;
  world.store.apply(aPod(2));
  await pass(8);
  const between = world.now;
  await pass(60);
  await restored(world);
  expect((await then(world, between)).caveats).toEqual([
    `the cluster was restored, or created again, before ${timeText(world.now)}: its addresses just before are unknown`,
  ]);
  await pass(1);
  expect((await then(world, written - 1)).caveats).toEqual([]);
  expect((await then(world, world.now)).caveats).toEqual([]);
});

it('a new slice does not prove that another client had changed no other slice of the Service', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(2)], {
    settings: { maxEndpointsPerSlice: 2 },
  });
  await pass(20);
  const [slice] = world.store.list('EndpointSlice', 'default');
  const { name = '' } = slice?.metadata ?? {};
  world.store.replace(
    'EndpointSlice',
    { namespace: 'default', name },
    { ...(slice as RawObject), endpoints: [] } as RawObject,
    { manager: 'kubectl-edit' },
  );
  const between = world.now;
  await pass(0.4);
  world.store.apply(aPod(2));
  await pass(20);
  const { records } = await told(world);
  expect(records.slice(1).map((r) => [r.writes.slices, r.foundOtherwise?.slices ?? 0])).toEqual([
    [1, 0],
    [1, 2],
  ]);
  expect((await then(world, between + 1)).caveats).toEqual([
    expect.stringMatching(/found 2 addresses of slices that another client had changed at an unknown time$/),
  ]);
});

it('an edit that a run finds after its first write is uncertain until then, although the hub heard nothing of it', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(4)], {
    settings: { maxEndpointsPerSlice: 2 },
  });
  await pass(20);
  const [, edited] = world.store.list('EndpointSlice', 'default');
  const { send } = world.queues.events;
  world.queues.events.send = async () => {};
  world.store.replace(
    'EndpointSlice',
    { namespace: 'default', name: edited?.metadata.name ?? '' },
    { ...(edited as RawObject), endpoints: [] } as RawObject,
    { manager: 'kubectl-edit' },
  );
  const between = world.now;
  await pass(60);
  world.queues.events.send = send;
  for (const { metadata } of world.store.list('Pod', 'default'))
    world.store.apply(aPod(Number(metadata.name.slice(-1)), { ready: false }));
  await pass(20);
  expect((await then(world, between + 1)).caveats).toEqual([
    expect.stringMatching(/found 2 addresses of slices that another client had changed at an unknown time$/),
  ]);
  expect((await then(world, between - 1)).caveats).toHaveLength(1);
  expect((await then(world, world.now)).caveats).toEqual([]);
});

it('a time at which another client had deleted a slice that the next run deletes too is uncertain', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(3)], {
    settings: { maxEndpointsPerSlice: 2 },
  });
  await pass(20);
  const of = (slice: RawObject) =>
    (slice as unknown as { readonly endpoints: readonly { readonly targetRef: { readonly name: string } }[] })
      .endpoints;
  const single = (world.store.list('EndpointSlice', 'default') as unknown as readonly RawObject[]).find(
    (slice) => of(slice).length === 1,
  ) as RawObject;
  world.store.remove('EndpointSlice', 'default', single.metadata.name);
  const between = world.now;
  await pass(0.4);
  world.store.remove('Pod', 'default', of(single)[0]?.targetRef.name ?? '');
  await pass(20);
  expect((await then(world, between + 1)).caveats).toEqual([
    expect.stringMatching(/found 1 address of slices that another client had changed at an unknown time$/),
  ]);
});

it('if the hub is both writers, another client’s change of slices that opt-in off left behind is on record', async () => {
  const { world, pass } = await smallCluster([optedIn(), ...pods(2)], { mode: 'active', optIn: 'active' });
  await pass(20);
  await switchOptIn(world.table, cluster, 'off', world.now);
  await pass(5);
  const [slice] = world.store.list('EndpointSlice', 'default') as unknown as readonly RawObject[];
  const name = slice?.metadata.name ?? '';
  world.store.replace(
    'EndpointSlice',
    { namespace: 'default', name },
    { ...slice, endpoints: [] } as unknown as RawObject,
    {
      manager: 'kubectl-edit',
    },
  );
  await pass(5);
  const between = world.now;
  await pass(5);
  await switchOptIn(world.table, cluster, 'active', world.now);
  await pass(70);
  expect(await then(world, between)).toMatchObject({ isKnown: true, addresses: [], caveats: [] });
});

it('a Service of the built-in controllers may have slices of a run that was cut short', async () => {
  const given = [aService(), ...pods(2), builtInSlice(addresses)];
  const { world, pass } = await smallCluster(given, beside);
  await pass(10);
  const before = world.now - 1;
  const { put, update } = world.table;
  let dies = true;
  world.table.put = async (item, condition) => {
    if (dies && item.pk.includes('#OUT#')) throw new Error('the worker has died');
    return put(item, condition);
  };
  world.table.update = async (at, change, condition) => {
    if (dies && change.remove?.includes('lease')) throw new Error('the worker has died');
    return update(at, change, condition);
  };
  world.store.apply(optedIn());
  await pass(3);
  const since = world.now - 1;
  expect((await then(world, since)).caveats).toEqual(['a run has not ended yet: its changes may be missing']);
  for (const { metadata } of world.store.list('EndpointSlice', 'default'))
    world.store.remove('EndpointSlice', 'default', metadata.name);
  world.store.remove('Service', 'default', 'svc');
  dies = false;
  await pass(120);
  world.store.apply(aService());
  world.store.create('EndpointSlice', 'default', builtInSlice(addresses));
  await pass(120);
  expect(await then(world, before)).toMatchObject({ isKnown: true });
  expect((await then(world, since)).caveats).toEqual([
    expect.stringMatching(
      /: a run before this one was cut short: .*; the addresses before that are uncertain$/,
    ),
  ]);
  expect(await then(world, world.now)).toMatchObject({ isKnown: true, caveats: [] });
});

describe.each([
  ['after their Service', 0],
  ['before their Service', 70],
])('slices that are deleted while opt-in is off, %s', (_, seconds) => {
  it('their addresses were listed until then', async () => {
    const { world, pass } = await smallCluster([optedIn(), ...pods(2)], beside);
    await pass(40);
    const listedAt = world.now - 20_000;
    await switchOptInTo(world, 'active', 'off');
    await pass(5);
    const slices = world.store.list('EndpointSlice', 'default');
    const remove = () => {
      for (const { metadata } of slices) world.store.remove('EndpointSlice', 'default', metadata.name);
    };
    if (seconds > 0) remove();
    await pass(seconds);
    world.store.remove('Service', 'default', 'svc');
    await pass(70);
    if (seconds === 0) remove();
    await pass(70);
    await switchOptInTo(world, 'off', 'active');
    await pass(70);
    const { isKnown, addresses: listed } = await then(world, listedAt);
    expect([isKnown, listed.map((a) => a.address)]).toEqual([true, addresses]);
  });
});

it('a slice without addresses that is deleted while opt-in is off ends the hub’s part in the Service', async () => {
  const { world, pass } = await smallCluster([optedIn()], beside);
  await pass(40);
  await switchOptInTo(world, 'active', 'off');
  await pass(5);
  for (const { metadata } of world.store.list('EndpointSlice', 'default'))
    world.store.remove('EndpointSlice', 'default', metadata.name);
  world.store.remove('Service', 'default', 'svc');
  await pass(70);
  await switchOptInTo(world, 'off', 'active');
  for (const object of [aService(), ...pods(2)]) world.store.apply(object);
  world.store.create('EndpointSlice', 'default', builtInSlice(addresses));
  await pass(70);
  expect((await then(world, world.now)).summary).toMatch(/^Not known: not written since /);
});

describe('names that explain knows', () => {
  it('an unknown service is an error that lists the known services', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    const unknown = { ...key, name: 'zzz' };
    const error = 'no service zzz in namespace default of c: there is svc';
    await expect(explainThen(world.table, unknown, world.now, world.now)).rejects.toThrow(error);
    await expect(told(world, {}, unknown)).rejects.toThrow(error);
  });

  it('a service that was deleted is answered for as long as there are records of it', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    const atMs = world.now;
    await pass(1);
    world.store.remove('Service', 'default', 'svc');
    await pass(8);
    expect(await then(world, atMs)).toMatchObject({ isKnown: true, addresses: [{ address: '10.1.0.1' }] });
    expect(await then(world, world.now)).toMatchObject({
      isKnown: true,
      summary: expect.stringMatching(/^No address was listed/),
    });
    expect((await told(world)).runs).toHaveLength(2);
  });

  it('a pod and an address that no record names are errors that name those on record', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    world.store.remove('Pod', 'default', 'pod-1');
    await pass(8);
    await expect(told(world, { pod: 'zzz' })).rejects.toThrow(
      'no pod zzz is listed now or in the history of default/svc in c: there are pod-0, pod-1',
    );
    await expect(told(world, { address: '999' })).rejects.toThrow(
      'no address 999 is listed now or in the history of default/svc in c: there are 10.1.0.1, 10.1.0.2',
    );
    expect((await told(world, { pod: 'pod-1' })).runs).toHaveLength(2);
  });

  it('a time after the last heartbeat of a silent relay is told as of that heartbeat, and one before it is not', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    await world.sendHeartbeat();
    await pass(3600);
    const doubt = expect.stringMatching(/^as of .* \(60 min ago\): the relay is silent since$/);
    expect((await then(world, world.now - 60_000)).caveats).toContainEqual(doubt);
    expect((await then(world, startAt + 8_000)).caveats).not.toContainEqual(doubt);
  });

  it('a time before the hub knew the cluster is not known', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    expect((await then(world, startAt - day)).summary).toBe(
      `Not known: the record begins at ${timeText(startAt)}.`,
    );
    expect((await then(world, startAt - 1)).summary).toMatch(
      /^Not known: the record begins at 2026-01-02T00:00:0/,
    );
  });

  it('a time before the history was kept for as long as it is now is not known', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)], { settings: { historyDays: 0 } });
    await pass(8);
    const atMs = world.now;
    await pass(8);
    await registerCluster(world.table, { id: cluster, mode: 'active', settings: {} }, world.now);
    expect((await then(world, atMs)).summary).toBe(`Not known: the record begins at ${timeText(world.now)}.`);
    expect(await then(world, world.now)).toMatchObject({
      isKnown: true,
      addresses: [{ address: '10.1.0.1' }],
    });
  });

  it('a Service whose runs wrote nothing for longer than history is kept has the addresses that it has now', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)], { settings: { historyDays: 1 } });
    await pass(8);
    await pass((2 * day) / 1000);
    expect(await then(world, world.now - day / 2)).toMatchObject({
      isKnown: true,
      addresses: [{ address: '10.1.0.1' }],
      caveats: [],
    });
  });

  it('a Service without a selector is not known: others write its endpoints', async () => {
    const { world, pass } = await smallCluster([aService({ selector: undefined }), aPod(0)]);
    await pass(8);
    expect((await then(world, world.now)).summary).toMatch(
      /^Not known: the Service has neither a selector nor the annotation/,
    );
  });
});
