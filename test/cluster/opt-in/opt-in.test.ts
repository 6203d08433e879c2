/**
 * `npm start -- --mode shadow --opt-in active` beside kube-controller-manager's own controllers, on a real
 * control plane: the main use of opt-in.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { labelServiceName, labelSliceManagedBy, optInManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { httpPort, type World } from '#test/e2e/world.ts';
import {
  type Beside,
  change,
  controllers,
  hubSettled,
  optedIn,
  ours,
  pollUnion,
  rehearsed,
  served,
  startBeside,
  theirs,
} from './beside.ts';
import { churn, makeTwins, pairs, twinsOf } from './twins.ts';

let beside: Beside;
beforeAll(async () => {
  beside = await startBeside();
});
let hasFailed = false;
beforeEach(({ onTestFailed }) =>
  onTestFailed(() => {
    hasFailed = true;
  }),
);
afterAll(async () => {
  if (hasFailed) console.log(beside?.lines.slice(-60).join('\n'));
  await beside?.stop();
});

const three = ['10.1.0.1', '10.1.0.2', '10.1.0.3'];
const versions = (slices: readonly EndpointSlice[]): readonly string[] =>
  slices.map((s) => `${s.metadata.name} ${s.metadata.resourceVersion}`);

/** Three ready pods of app=web, in a namespace of their own. */
async function withPods(app = 'web'): Promise<World> {
  const world = await beside.world();
  for (const i of [0, 1, 2])
    await world.pod(`${app}-${i}`, {
      labels: { app },
      node: world.nodes[i % 2] as string,
      ips: [three[i] as string],
    });
  return world;
}

/** Returns the content of a slice without its owner, its name and its times. */
const content = ({
  metadata: { labels = {}, ownerReferences = [] },
  addressType,
  endpoints,
  ports,
}: EndpointSlice) => {
  const { [labelSliceManagedBy]: _, [labelServiceName]: __, ...others } = labels;
  const owners = ownerReferences.map(({ kind, controller, blockOwnerDeletion }) => ({
    kind,
    controller,
    blockOwnerDeletion,
  }));
  const addresses = [...(endpoints ?? [])].map((e) => JSON.stringify(e)).sort();
  return { labels: others, owners, addressType, addresses, ports };
};

describe('beside the built-in controllers', { concurrent: true, timeout: 240_000 }, () => {
  it('a service that opts in gets the slice that its twin with a selector has, and no Endpoints', async () => {
    const world = await withPods();
    const twin = await world.service('twin', { selector: { app: 'web' }, ports: [httpPort] });
    const service = await optedIn(world, 'opted', 'app=web');
    const slice = await world.eventually(() => {
      expect(served(theirs(world.slices('twin')))).toEqual(three);
      expect(served(ours(world.slices('opted')))).toEqual(three);
      const [only, ...more] = world.slices('opted');
      expect(more).toEqual([]);
      return only as EndpointSlice;
    });
    expect(content(slice)).toEqual(content(world.slices('twin')[0] as EndpointSlice));
    expect(slice.metadata.labels?.[labelSliceManagedBy]).toBe(optInManagedBy);
    expect(slice.metadata.ownerReferences?.map((o) => o.uid)).toEqual([service.metadata.uid]);
    expect(world.slices('twin')[0]?.metadata.ownerReferences?.map((o) => o.uid)).toEqual([twin.metadata.uid]);
    expect(await world.api.get('Endpoints', world.namespace, 'opted')).toBeUndefined();
  });

  it('a service whose selector is removed passes to us without a gap, and nothing of the built-in controllers is left', async () => {
    const world = await withPods();
    await rehearsed(world, 'web', 'web');
    await world.eventually(() => expect(served(theirs(world.slices('web')))).toEqual(three));
    expect(ours(world.slices('web'))).toEqual([]);
    const polled = pollUnion(world, 'web', three);
    await change(world, 'web', { spec: { selector: null } });
    await world.eventually(async () => {
      expect(served(ours(world.slices('web')))).toEqual(three);
      expect(world.slices('web')).toEqual(ours(world.slices('web')));
      expect(await world.api.get('Endpoints', world.namespace, 'web')).toBeUndefined();
    });
    const { looks, gaps } = await polled();
    expect(gaps).toEqual([]);
    expect(looks).toBeGreaterThan(3);
  });

  it('a service that has its selector back passes to the built-in controllers without a gap, and they follow its pods', async () => {
    const world = await withPods();
    await optedIn(world, 'web', 'app=web');
    await world.eventually(() => expect(served(ours(world.slices('web')))).toEqual(three));
    const polled = pollUnion(world, 'web', three);
    await change(world, 'web', { spec: { selector: { app: 'web' } } });
    await world.eventually(() => {
      expect(served(theirs(world.slices('web')))).toEqual(three);
      expect(ours(world.slices('web'))).toEqual([]);
    });
    expect((await polled()).gaps).toEqual([]);
    await world.pod('web-3', { labels: { app: 'web' }, ips: ['10.1.0.9'] });
    await world.removePod('web-0');
    await world.eventually(() =>
      expect(served(theirs(world.slices('web')))).toEqual(['10.1.0.2', '10.1.0.3', '10.1.0.9']),
    );
    await world.eventually(() =>
      expect(world.endpoints('web')?.subsets?.[0]?.addresses?.map((a) => a.ip)).toEqual([
        '10.1.0.2',
        '10.1.0.3',
        '10.1.0.9',
      ]),
    );
    expect(ours(world.slices('web'))).toEqual([]);
  });

  it('a set-based selector gets a Service handed over, and a label of its own gets it back', async () => {
    const world = await withPods();
    await optedIn(world, 'web', 'app in (web, edge), !canary');
    await world.eventually(() => expect(served(ours(world.slices('web')))).toEqual(three));
    await world.pod('edge-0', { labels: { app: 'edge' }, ips: ['10.1.0.8'] });
    await world.pod('edge-1', { labels: { app: 'edge', canary: 'yes' }, ips: ['10.1.0.9'] });
    const four = [...three, '10.1.0.8'];
    await world.eventually(() => expect(served(ours(world.slices('web')))).toEqual(four));
    await hubSettled(world);
    expect(served(world.slices('web'))).toEqual(four);
    const polled = pollUnion(world, 'web', three);
    await change(world, 'web', { spec: { selector: { app: 'web' } } });
    await world.eventually(() => expect(ours(world.slices('web'))).toEqual([]));
    expect(served(theirs(world.slices('web')))).toEqual(three);
    expect((await polled()).gaps).toEqual([]);
  });

  it('a service that goes there and back many times never misses an address, and ends with one writer', async () => {
    const world = await withPods();
    await rehearsed(world, 'web', 'web');
    await world.eventually(() => expect(served(world.slices('web'))).toEqual(three));
    const polled = pollUnion(world, 'web', three);
    for (const [i, pause] of [0, 300, 2_000, 50, 1_000, 0, 700].entries()) {
      await change(world, 'web', { spec: { selector: i % 2 === 0 ? null : { app: 'web' } } });
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    await world.eventually(async () => {
      expect(world.slices('web')).toEqual(ours(world.slices('web')));
      expect(served(world.slices('web'))).toEqual(three);
      expect(await world.api.get('Endpoints', world.namespace, 'web')).toBeUndefined();
    });
    expect((await polled()).gaps).toEqual([]);
  });

  it.each([
    ['has an empty annotation', { annotation: '' }],
    [
      'becomes an ExternalName',
      { spec: { type: 'ExternalName', externalName: 'example.org', clusterIP: null, clusterIPs: null } },
    ],
    ['is deleted', undefined],
  ] as const)(
    'the slices of a service that %s are deleted, and slices that a person made stay',
    async (_, what) => {
      const world = await withPods();
      await optedIn(world, 'web', 'app=web');
      const made = await world.api.create('EndpointSlice', world.namespace, {
        metadata: { name: 'by-hand', labels: { [labelServiceName]: 'web', [labelSliceManagedBy]: 'staff' } },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['192.0.2.1'] }],
        ports: [],
      });
      await world.eventually(() => expect(served(ours(world.slices('web')))).toEqual(three));
      if (what) await change(world, 'web', what);
      else await world.api.delete('Service', world.namespace, 'web');
      await world.eventually(() => expect(ours(world.slices('web'))).toEqual([]));
      expect(versions(world.slices('web'))).toEqual(versions([made]));
    },
  );

  it.each(['app in (web', null, Array.from({ length: 17 }, (_, i) => `k${i}=v`).join(), '-app=web'])(
    'an invalid or removed annotation leaves the slices as they are, and one Event reports it: %j',
    async (text) => {
      const world = await withPods();
      await optedIn(world, 'web', 'app=web');
      await world.eventually(() => expect(served(ours(world.slices('web')))).toEqual(three));
      const before = versions(world.slices('web'));
      await change(world, 'web', { annotation: text });
      const reports = async () =>
        (await world.api.list('Event', world.namespace)).items.filter((e) =>
          /is (invalid|gone)/.test(e.message ?? ''),
        );
      await world.eventually(async () => expect(await reports()).toHaveLength(1));
      await world.removePod('web-0');
      await world.pod('web-3', { labels: { app: 'web' }, ips: ['10.1.0.9'] });
      await hubSettled(world);
      expect(versions(world.slices('web'))).toEqual(before);
      expect(await reports()).toHaveLength(1);
      await change(world, 'web', { annotation: 'app=web' });
      await world.eventually(() =>
        expect(served(ours(world.slices('web')))).toEqual(['10.1.0.2', '10.1.0.3', '10.1.0.9']),
      );
    },
  );

  it('a service with selector and annotation is written by the built-in controllers alone', async () => {
    const world = await withPods();
    await rehearsed(world, 'web', 'web');
    await world.eventually(() => expect(served(theirs(world.slices('web')))).toEqual(three));
    await world.pod('web-3', { labels: { app: 'web' }, ips: ['10.1.0.9'] });
    await world.eventually(() => expect(served(world.slices('web'))).toEqual([...three, '10.1.0.9']));
    await hubSettled(world);
    expect(theirs(world.slices('web'))).toEqual(world.slices('web'));
  });

  it('a slice of ours that a user edits or deletes is put right', async () => {
    const world = await withPods();
    await optedIn(world, 'web', 'app=web');
    const [slice] = await world.eventually(() => {
      expect(served(ours(world.slices('web')))).toEqual(three);
      return world.slices('web');
    });
    await world.api.patch('EndpointSlice', world.namespace, slice?.metadata.name ?? '', { endpoints: [] });
    await world.eventually(() => expect(served(world.slices('web'))).toEqual([]));
    await world.eventually(() => expect(served(world.slices('web'))).toEqual(three));
    await world.api.delete('EndpointSlice', world.namespace, slice?.metadata.name ?? '');
    await world.eventually(() =>
      expect(world.slices('web').every((s) => s.metadata.uid !== slice?.metadata.uid)).toBe(true),
    );
    await world.eventually(() => expect(served(ours(world.slices('web')))).toEqual(three));
  });

  it('Endpoints that a person makes for such a service are mirrored by Kubernetes, and left alone by us', async () => {
    const world = await withPods();
    await optedIn(world, 'web', 'app=web');
    await world.eventually(() => expect(served(ours(world.slices('web')))).toEqual(three));
    const before = versions(ours(world.slices('web')));
    const made = await world.api.create('Endpoints', world.namespace, {
      metadata: { name: 'web' },
      subsets: [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ name: 'http', port: 8080 }] }],
    });
    await world.eventually(() => expect(served(world.slices('web'))).toEqual([...three, '192.0.2.7']));
    await hubSettled(world);
    await change(world, 'web', { annotation: 'app = web' });
    await hubSettled(world);
    expect((await world.api.get('Endpoints', world.namespace, 'web'))?.metadata.uid).toBe(made.metadata.uid);
    expect(world.slices('web')).toHaveLength(2);
    expect(versions(ours(world.slices('web')))).toEqual(before);
  });
});

describe('for many services of the cluster at once', { timeout: 240_000 }, () => {
  it.each([1, 2])(
    'services that opt in have the endpoints of their twins after random changes of their pods, seed %i',
    async (seed) => {
      const world = await beside.world();
      await makeTwins(world, 'web');
      await churn(world, 'web', { seed, changes: 120 });
      await hubSettled(world);
      await world.eventually(() => {
        for (const name of pairs) {
          const twins = twinsOf(world, name);
          expect(twins.ours, name).toEqual(twins.theirs);
          expect(twins.ours.length, name).toBeGreaterThan(0);
          expect(world.slices(`${name}-twin`), name).toHaveLength(ours(world.slices(`${name}-twin`)).length);
        }
      });
      for (const name of pairs)
        expect(await world.api.get('Endpoints', world.namespace, `${name}-twin`)).toBeUndefined();
    },
  );

  it('a service of more than a hundred pods is packed as its twin is', async () => {
    const world = await beside.world();
    await world.pods('many', 130, { labels: { app: 'many' } });
    await world.service('plain', { selector: { app: 'many' }, ports: [httpPort] });
    // Pods that the hub learns of after a first run would fill the slices in another way.
    await hubSettled(world);
    await optedIn(world, 'plain-twin', 'app=many');
    const sizes = (slices: readonly EndpointSlice[]) => slices.map((s) => s.endpoints?.length ?? 0).sort();
    await world.eventually(() => {
      const twins = twinsOf(world, 'plain');
      expect(twins.ours).toHaveLength(130);
      expect(twins.ours).toEqual(twins.theirs);
      expect(sizes(world.slices('plain-twin'))).toEqual([100, 30]);
      expect(sizes(world.slices('plain'))).toEqual([100, 30]);
    });
  });

  it('a restart of kube-controller-manager changes no slice of ours', async () => {
    const world = await withPods();
    await optedIn(world, 'web', 'app=web');
    await world.eventually(() => expect(served(ours(world.slices('web')))).toEqual(three));
    const before = versions(world.slices('web'));
    await beside.controlPlane.controllerManager.stop('SIGTERM');
    await beside.controlPlane.controllerManager.start([`--controllers=${controllers}`]);
    await world.settled();
    await hubSettled(world);
    expect(versions(world.slices('web'))).toEqual(before);
  });

  it.each([
    ['is off', ['opt-in', 'CLUSTER', 'off'], ['opt-in', 'CLUSTER', 'active', '--override']],
    ['only tries', ['opt-in', 'CLUSTER', 'shadow'], ['opt-in', 'CLUSTER', 'active', '--override']],
    ['is paused', ['pause', 'CLUSTER'], ['shadow', 'CLUSTER']],
  ] as const)(
    'a service that opts in stays as it is while the cluster %s, and follows its pods afterwards',
    async (_, away, back) => {
      const world = await withPods();
      await optedIn(world, 'web', 'app=web');
      await world.eventually(() => expect(served(ours(world.slices('web')))).toEqual(three));
      const before = versions(world.slices('web'));
      await beside.command(...away);
      await world.pod('web-3', { labels: { app: 'web' }, ips: ['10.1.0.9'] });
      await optedIn(world, 'late', 'app=web');
      await world.settled();
      expect(versions(world.slices('web'))).toEqual(before);
      expect(world.slices('late')).toEqual([]);
      await beside.command(...back);
      await world.eventually(() => {
        expect(served(ours(world.slices('web')))).toEqual([...three, '10.1.0.9']);
        expect(served(ours(world.slices('late')))).toEqual([...three, '10.1.0.9']);
      });
    },
  );
});
