/** The first line of `explain` tells what is served, and never what should be: reports of answers that were wrong. */
import { describe, expect, it } from 'vitest';
import { explain } from '#infra/cli/ask/explain-service.ts';
import { explainThen } from '#infra/cli/ask/explain-then.ts';
import { thenLines } from '#infra/cli/ask/history-text.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { switchMode, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import { metaKey } from '#shared/store/keys.ts';
import { countDifferences } from '#shared/store/outputs/shadow-record.ts';
import { aPod, aService, optedIn, pods, smallCluster } from '#test/support/small-cluster.ts';

const key = { cluster: 'c', namespace: 'default', name: 'svc' };
type World = Awaited<ReturnType<typeof smallCluster>>['world'];
const ask = (world: World) => explain(world.table, key, world.now);
const told = async (world: World): Promise<string> => {
  const { summary, answer } = await ask(world);
  return [summary, ...(answer?.causes ?? []).map((c) => `${c.pods.join(' ')} ${c.text}`)].join('\n');
};

/** As kube-controller-manager makes it. */
const builtInSlice = (of: readonly number[]): RawObject => ({
  ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  metadata: {
    ...{ name: 'svc-builtin', namespace: 'default' },
    labels: { [labelServiceName]: 'svc', [labelSliceManagedBy]: slicesManagedBy },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'svc', uid: 'uid-svc', controller: true }],
  },
  endpoints: of.map((i) => ({
    ...{ addresses: [`10.1.0.${i + 1}`], conditions: { ready: true } },
    targetRef: { kind: 'Pod', namespace: 'default', name: `pod-${i}`, uid: `pod-${i}` },
  })),
});

describe('the first line', () => {
  it('no pod counts that came during a pause', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    await switchMode(world.table, 'c', 'paused', world.now);
    world.store.apply(aPod(2));
    await pass(20);
    const { summary, pods: explained } = await ask(world);
    expect(summary).toMatch(/^Partly reachable: 2 of 3 pods can be reached; .*the cluster is paused/);
    expect(explained.find((p) => p.pod === 'pod-2')?.slices[0]?.pending).toBe(
      'as saved it is not listed yet',
    );
  });

  it('what the cluster’s own controllers write during a pause of shadow mode is seen, then and after it', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2), builtInSlice([0, 1])], {
      ...{ mode: 'shadow', optIn: 'shadow' },
    });
    await pass(20);
    await switchMode(world.table, 'c', 'paused', world.now);
    world.store.apply(aPod(2));
    world.store.apply(builtInSlice([0, 1, 2]));
    await pass(20);
    expect((await ask(world)).summary).toMatch(
      /^Reachable: 3 of 3 pods can be reached; .*the cluster is paused/,
    );
    await switchMode(world.table, 'c', 'shadow', world.now);
    await pass(20);
    expect((await ask(world)).summary).toMatch(/^Reachable: 3 of 3 pods can be reached/);
  });

  it('after a switch to shadow mode what the hub wrote last is served, until another client changes it', async () => {
    const reached = async (): Promise<readonly string[]> =>
      (await ask(world)).pods.filter((p) => p.reachable).map((p) => p.pod);
    const { world, pass } = await smallCluster([aService(), ...pods(2), builtInSlice([0, 1])], {
      mode: 'shadow',
    });
    world.outputs = 'full';
    await pass(20);
    await switchMode(world.table, 'c', 'active', world.now);
    await pass(20);
    world.store.apply(aPod(2));
    await pass(20);
    expect(await reached()).toEqual(['pod-0', 'pod-1', 'pod-2']);
    await switchMode(world.table, 'c', 'shadow', world.now);
    await pass(20);
    expect(await reached()).toEqual(['pod-0', 'pod-1', 'pod-2']);
    expect(await countDifferences(world.table, 'c')).toBe(0);
    // One output alone is seen.
    const endpoints = world.store.find('Endpoints', 'default', 'svc') as RawObject;
    world.store.apply({ ...endpoints, subsets: [] } as RawObject);
    await pass(20);
    expect(await reached()).toEqual(['pod-0', 'pod-1', 'pod-2']);
    for (const { metadata } of world.store.list('EndpointSlice', 'default'))
      world.store.remove('EndpointSlice', 'default', metadata.name);
    await pass(20);
    expect(await reached()).toEqual([]);
  });

  it('a difference ends with the Service’s opt-in, also where leftovers of the built-in controllers stay', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2), builtInSlice([0])], {
      ...{ mode: 'shadow', optIn: 'active', settings: { optInCleanup: false } },
    });
    world.outputs = 'full';
    await pass(60);
    expect(await countDifferences(world.table, 'c')).toBe(1);
    world.store.apply(optedIn());
    await pass(20);
    expect(await countDifferences(world.table, 'c')).toBe(0);
    expect((await ask(world)).summary).toMatch(
      /^Reachable: 2 of 2 pods can be reached; everything is written/,
    );
  });

  it('a list shows that what the hub wrote before a switch is gone', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    world.outputs = 'full';
    await pass(20);
    await switchMode(world.table, 'c', 'shadow', world.now);
    await pass(20);
    for (const { metadata } of world.store.list('EndpointSlice', 'default'))
      world.store.remove('EndpointSlice', 'default', metadata.name);
    // The relay was away.
    world.queues.events.purge();
    expect((await ask(world)).summary).toMatch(/^Reachable: 2 of 2/);
    await world.sendInventory('after');
    await pass(20);
    expect((await ask(world)).summary).toMatch(/^Unreachable: 0 of 2/);
    const wakeUps = world.metrics.get('WakeUps');
    await world.sendInventory('again');
    await pass(20);
    expect(world.metrics.get('WakeUps')).toBe(wakeUps);
  });

  it('a slice of a former Service of that name does not count, which goes with it', async () => {
    const slice = builtInSlice([0, 1]);
    const owners = [{ apiVersion: 'v1', kind: 'Service', name: 'svc', uid: 'former', controller: true }];
    const former = { ...slice, metadata: { ...slice.metadata, ownerReferences: owners } } as RawObject;
    const { world, pass } = await smallCluster([aService(), ...pods(2)], { mode: 'shadow' });
    world.outputs = 'full';
    world.store.apply(former);
    await pass(20);
    expect((await ask(world)).summary).toMatch(/^Unreachable: 0 of 2/);
    world.store.apply(builtInSlice([0, 1]));
    await pass(20);
    expect((await ask(world)).summary).toMatch(/^Reachable: 2 of 2/);
  });

  it('no pod counts of a Service without any slice', async () => {
    const { world, pass } = await smallCluster([optedIn(), ...pods(3)], { mode: 'shadow' });
    await pass(8);
    expect((await ask(world)).summary).toMatch(
      /^Unreachable: 0 of 3 pods can be reached; nothing is written/,
    );
  });

  it('no pod counts that Endpoints alone list, because its node is unknown', async () => {
    const pod = aPod(0) as RawObject & { spec: object };
    const { world, pass } = await smallCluster([
      aService(),
      { ...pod, spec: { ...pod.spec, nodeName: 'node-z' } },
    ]);
    await pass(8);
    expect(await told(world)).toMatch(
      /^Unreachable: 0 of 1 pod(?:.|\n)*pod-0 its node node-z does not exist/,
    );
  });

  it('a pod whose node is gone can be reached until it is taken out, which the next change does', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(20);
    world.store.remove('Node', '', 'node-a');
    await pass(20);
    const { answer, summary } = await ask(world);
    expect(answer).toMatchObject({ reachable: 2, live: 2 });
    expect(summary).toMatch(/^Reachable: 2 of 2 pods can be reached; its slices are not up to date/);
    expect(await told(world)).toMatch(/its node node-a does not exist/);
    world.store.apply(aPod(1, { ready: false }));
    await pass(20);
    expect((await ask(world)).answer).toMatchObject({ reachable: 0 });
  });

  it('no pod counts that is listed without a port', async () => {
    const ports = [{ name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' }];
    const { world, pass } = await smallCluster([aService({ ports }), aPod(0)]);
    await pass(8);
    expect(await told(world)).toMatch(
      /^Unreachable: 0 of 1 pod(?:.|\n)*no container has a port named web\/TCP/,
    );
  });

  it('the time is named since which the relay is silent', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await world.sendHeartbeat();
    await pass(3600);
    expect((await ask(world)).summary).toMatch(/as of \S+ \(60 min ago\): the relay is silent since/);
  });

  it('first lists that are missing are named', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    await world.table.update(metaKey('c'), { set: { firstList_Node: -1 } });
    world.store.remove('Pod', 'default', 'pod-0');
    await pass(30);
    expect(await told(world)).toMatch(
      /nothing runs until the first lists of Node are complete(?:.|\n)*pod-0 is gone/,
    );
  });

  it('work that was given up is not written, and the server’s words are told', async () => {
    const invalid = new ClusterApiError('a policy denies it', { status: 422, reason: 'Invalid' });
    let isRefused = false;
    const { world, pass } = await smallCluster([aService(), ...pods(2)], {
      refuse: async (asked) => {
        if (isRefused && asked === 'replace EndpointSlice') throw invalid;
      },
    });
    await pass(10);
    isRefused = true;
    world.store.apply(aPod(1, { ready: false }));
    await pass(3 * 3600);
    const { state, summary, health } = await ask(world);
    expect([state, health]).toEqual(['GivenUp', 'bad']);
    expect(summary).toMatch(/^Partly reachable: 1 of 2 pods .*given up .*a policy denies it/);
  });
});

describe('what is served beside', () => {
  it.each(['off', 'shadow'] as const)(
    'slices by opt-in are named if the switch is %s and the Service has its selector again',
    async (to) => {
      const { world, pass } = await smallCluster([optedIn(), ...pods(3)], {
        ...{ mode: 'shadow', optIn: 'active' },
        // The hub may not delete its slices.
        refuse: async (asked) => {
          if (asked === 'delete EndpointSlice')
            throw new ClusterApiError('no', { status: 403, reason: 'Forbidden' });
        },
      });
      await pass(20);
      await switchOptIn(world.table, 'c', to, world.now);
      await pass(5);
      for (const object of [aService(), builtInSlice([0, 1, 2])]) world.store.apply(object);
      await pass(60);
      expect(await told(world)).toMatch(/another manager, opt-in\.fleet-endpoints/);
    },
  );

  it('a frozen slice of the built-in controller is named with the address of the pod that is gone', async () => {
    const settings = { optInCleanup: false };
    const { world, pass } = await smallCluster([aService(), ...pods(2), builtInSlice([0, 1])], {
      ...{ mode: 'shadow', optIn: 'active', settings },
    });
    await pass(8);
    world.store.apply(optedIn());
    await pass(20);
    world.store.apply(aPod(3));
    world.store.remove('Pod', 'default', 'pod-0');
    await pass(60);
    expect(await told(world)).toMatch(
      /another manager, endpointslice-controller\.k8s\.io, is served too: 10\.1\.0\.1/,
    );
  });
});

describe('slices of other managers, which proxies use too', () => {
  it.each([
    ['active', { mode: 'active' }],
    ['shadow', { mode: 'shadow', optIn: 'shadow' }],
  ] as const)('in %s mode they are said not to be read, now and at a past time', async (_mode, options) => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)], options);
    await pass(8);
    const builtIn = builtInSlice([0, 1]);
    if (options.mode === 'shadow') world.store.apply(builtIn);
    const labels = { ...builtIn.metadata.labels, [labelSliceManagedBy]: 'staff' };
    world.store.apply({
      ...builtIn,
      metadata: { ...builtIn.metadata, name: 'svc-staff', labels },
    } as RawObject);
    await pass(8);
    const { groups } = await ask(world);
    const facts = groups.flatMap((group) => group.facts);
    expect(facts.find(({ label }) => label === 'Not read')?.text).toMatch(/^slices of other managers/);
    const then = await explainThen(world.table, key, world.now - 1, world.now);
    expect(then.isKnown).toBe(true);
    expect(thenLines(then, 'it').join('\n')).toContain('Not kept\n  slices of other managers');
  });
});

describe('pods whose labels nearly match', () => {
  it('pods that nearly match are named, also by the only pair of the selector', async () => {
    const { world, pass } = await smallCluster([
      aService({ selector: { app: 'web' } }),
      aPod(0, { app: 'wbe' }),
      aPod(1, { app: 'Web' }),
    ]);
    await pass(8);
    expect((await ask(world)).pods.map((p) => p.pod)).toContain('pod-1');
    expect(await told(world)).toMatch(
      /asks for app=web, and pod pod-1 has app=Web, which differs in upper and lower/,
    );
  });
});
