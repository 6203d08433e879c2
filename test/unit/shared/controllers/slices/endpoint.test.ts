import { describe, expect, it } from 'vitest';
import { isEndpointReady, podToEndpoint } from '#shared/controllers/slices/endpoint.ts';
import type { Pod } from '#shared/kube/types.ts';
import { deepFreeze, node, type PodOptions, pod, service } from './fixtures.ts';

describe('podToEndpoint [UT-101 TestPodToEndpoint]', () => {
  const publish = service({ publishNotReadyAddresses: true });
  const conditions = (options: PodOptions, svc = service()) =>
    podToEndpoint(deepFreeze(pod(1, options)), undefined, svc, 'IPv4')?.conditions;

  it.each([
    ['ready', {}, service(), [true, true, false]],
    ['ready, published', {}, publish, [true, true, false]],
    ['not ready', { ready: false }, service(), [false, false, false]],
    ['not ready, published', { ready: false }, publish, [true, false, false]],
    ['ready and terminating', { deleted: true }, service(), [false, true, true]],
    ['ready and terminating, published', { deleted: true }, publish, [true, true, true]],
    ['not ready and terminating', { ready: false, deleted: true }, service(), [false, false, true]],
    ['not ready and terminating, published', { ready: false, deleted: true }, publish, [true, false, true]],
  ])('sets all conditions: %s', (_, options, svc, [ready, serving, terminating]) => {
    expect(conditions(options, svc)).toEqual({ ready, serving, terminating });
  });

  it('podToEndpoint has the zone of the node, not of the pod', () => {
    expect(podToEndpoint(pod(1), node('node-1', 'us-central1-a'), service(), 'IPv4')).toEqual({
      addresses: ['10.1.0.2'],
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: { kind: 'Pod', namespace: 'ns', name: 'pod0001', uid: 'pod-uid-1' },
      nodeName: 'node-1',
      zone: 'us-central1-a',
    });
    expect(podToEndpoint(pod(1), node('node-1', ''), service(), 'IPv4')).not.toHaveProperty('zone');
  });

  it('podToEndpoint has every address of its family, canonical and sorted', () => {
    const ips = ['10.0.0.9', '010.0.0.10', 'FD00:0:0::2', 'fd00::1', '::ffff:1.2.3.4'];
    expect(podToEndpoint(pod(1, { ips }), undefined, service(), 'IPv4')?.addresses).toEqual([
      '1.2.3.4',
      '10.0.0.10',
      '10.0.0.9',
    ]);
    expect(podToEndpoint(pod(1, { ips }), undefined, service(), 'IPv6')?.addresses).toEqual([
      'fd00::1',
      'fd00::2',
    ]);
  });

  it('an invalid address is skipped', () => {
    expect(
      podToEndpoint(pod(1, { ips: ['10.0.0.1', 'nonsense', 'fe80::1%eth0'] }), undefined, service(), 'IPv4')
        ?.addresses,
    ).toEqual(['10.0.0.1']);
    expect(podToEndpoint(pod(1, { ips: ['nonsense'] }), undefined, service(), 'IPv4')).toBeUndefined();
  });

  it('takes no notice of status.podIP alone', () => {
    const { status, ...rest } = pod(1);
    const alone: Pod = { ...rest, status: { ...status, podIPs: [] } };
    expect(podToEndpoint(alone, undefined, service(), 'IPv4')).toBeUndefined();
  });

  it.each([
    ['the service', 'foo', 'host'],
    ['another service', 'bar', undefined],
  ])('podToEndpoint has the hostname of a pod whose subdomain is %s', (_, subdomain, hostname) => {
    const named = pod(1, { spec: { hostname: 'host', subdomain, containers: [] } });
    expect(podToEndpoint(named, undefined, service(), 'IPv4')?.hostname).toBe(hostname);
  });

  it('podToEndpoint has no node name if the pod has none', () => {
    expect(podToEndpoint(pod(1, { node: '' }), undefined, service(), 'IPv4')).not.toHaveProperty('nodeName');
  });
});

it('takes an endpoint without conditions for not ready', () => {
  expect(isEndpointReady({ addresses: [] })).toBe(false);
  expect(isEndpointReady({ addresses: [], conditions: { ready: true } })).toBe(true);
});
