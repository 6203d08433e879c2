/** The hub returns after `hand-back` has given a Service to the built-in controllers, or was cut off midway. */
import { expect, it } from 'vitest';
import { handBackServices } from '#infra/cli/act/hand-back-services.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { addressesServed } from '#shared/controllers/opt-in/hand-over.ts';
import {
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import { memoryClusterApi } from '#test/support/memory/cluster-memory.ts';
import { optedIn, ownedByTheService, pods, smallCluster } from '#test/support/small-cluster.ts';

const addresses = ['10.1.0.1', '10.1.0.2', '10.1.0.3'];

/** As the built-in controller makes it. */
const theirs = (): RawObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    ...{ name: 'svc-theirs', namespace: 'default' },
    labels: { [labelServiceName]: 'svc', [labelSliceManagedBy]: slicesManagedBy },
    ownerReferences: [ownedByTheService],
  },
  addressType: 'IPv4',
  endpoints: addresses.map((address, i) => ({
    addresses: [address],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: 'node-1',
    targetRef: { kind: 'Pod', namespace: 'default', name: `pod-${i}`, uid: `pod-${i}` },
  })),
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
});

/** The hub does nothing unless time passes. */
async function whileHubIsAway() {
  const small = await smallCluster([optedIn(), ...pods(3)], { mode: 'shadow', optIn: 'active' });
  const { world, calls, pass } = small;
  await pass(8);
  const by = (manager: string) =>
    world.store.list('EndpointSlice').filter((s) => s.metadata.labels?.[labelSliceManagedBy] === manager);
  const served = () => [...new Set(addressesServed(world.store.list('EndpointSlice')))].sort();
  expect([by(optInManagedBy).length, served()]).toEqual([1, addresses]);
  const begun = calls.length;
  let clock = world.now;
  const handBack = (more: { readonly undo?: boolean; readonly dies?: boolean } = {}) =>
    handBackServices(
      {
        api: memoryClusterApi(world.store, { fieldManager: 'fleet-endpoints-hand-back' }),
        now: () => clock,
        waitMs: 60_000,
        // The built-in controllers answer meanwhile.
        pause: async (ms) => {
          clock += ms;
          if (!world.store.find('EndpointSlice', 'default', 'svc-theirs')) world.store.apply(theirs());
          if (more.dies) throw new Error('killed');
        },
      },
      {
        ...{ context: 'prod', only: undefined, namespace: undefined },
        ...{ undo: more.undo ?? false, dryRun: false, confirm: async () => {} },
      },
    );
  const writes = () => calls.slice(begun).filter(({ call }) => /^(create|replace|patch|delete) /.test(call));
  return { ...small, by, served, handBack, writes };
}

it('the hub leaves a Service that was handed back to the built-in controllers, and writes it again after --undo', async () => {
  const { pass, by, served, handBack, writes } = await whileHubIsAway();
  expect(await handBack()).toBe(true);
  expect([by(optInManagedBy), served()]).toEqual([[], addresses]);
  await pass(180);
  expect([by(optInManagedBy), served()]).toEqual([[], addresses]);
  expect(writes().filter(({ call }) => !call.endsWith('Event'))).toEqual([]);

  expect(await handBack({ undo: true })).toBe(true);
  await pass(20);
  expect([by(optInManagedBy).length, served()]).toEqual([1, addresses]);
});

it('the hub finishes a hand-back that was cut off, without a missing address', async () => {
  const { pass, by, served, handBack } = await whileHubIsAway();
  await handBack({ dies: true });
  expect([by(optInManagedBy).length, by(slicesManagedBy).length]).toEqual([1, 1]);
  for (let i = 0; i < 200; i++) {
    await pass(0.1);
    expect(served()).toEqual(addresses);
  }
  expect([by(optInManagedBy), by(slicesManagedBy).length]).toEqual([[], 1]);
});
