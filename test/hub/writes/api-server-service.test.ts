/** The hub never writes default/kubernetes, whose endpoints belong to the API server. */
import { expect, it } from 'vitest';
import { aService, pods, smallCluster } from '#test/support/small-cluster.ts';

const endpoints = {
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { namespace: 'default', name: 'kubernetes', uid: 'api-server' },
  subsets: [{ addresses: [{ ip: '10.0.0.7' }], ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] }],
};

it('the endpoints of default/kubernetes stay unchanged, with a selector and after a reported deletion', async () => {
  const { world, calls, pass } = await smallCluster([endpoints, ...pods(2), aService({}, 'web')]);
  await pass(8);
  const written = calls.length;
  expect(written).toBeGreaterThan(0);
  world.store.apply(aService({}, 'kubernetes'));
  await pass(30);
  expect(calls.length).toBe(written);
  calls.length = 0;
  world.store.remove('Service', 'default', 'kubernetes');
  await pass(1_800);
  expect(calls).toEqual([]);
  expect(world.store.get('Endpoints', 'default', 'kubernetes')).toMatchObject({
    subsets: [{ addresses: [{ ip: '10.0.0.7' }] }],
  });
  expect(
    world.store.list('EndpointSlice').map((s) => s.metadata.labels?.['kubernetes.io/service-name']),
  ).not.toContain('kubernetes');
});
