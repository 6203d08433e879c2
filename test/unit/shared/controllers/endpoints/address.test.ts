import { describe, expect, it } from 'vitest';
import { addressFamily, podAddress } from '#shared/controllers/endpoints/address.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';

const address = (s: Service, p: Pod) => podAddress(p, s, addressFamily(s));
const ip = (s: Service, ips: readonly string[]) => address(s, pod('p', { ips }))?.ip;

const v4 = service({ ipFamilies: ['IPv4'] });
const v4Headless = service({ ipFamilies: ['IPv4'], clusterIP: 'None' });
const v6 = service({ ipFamilies: ['IPv6'], clusterIP: 'fd00::10' });
const v6Headless = service({ ipFamilies: ['IPv6'], clusterIP: 'None' });
const dual = service({ ipFamilies: ['IPv6', 'IPv4'] });

describe('the address of a pod [UT-18 TestPodToEndpointAddressForService]', () => {
  it.each([
    ['v4 service, v4 pod', v4, ['1.2.3.4'], '1.2.3.4'],
    ['v4 service, dual-stack pod', v4, ['1.2.3.4', '2000::0'], '1.2.3.4'],
    ['v4 service, pod with IPv6 first', v4, ['2000::0', '1.2.3.4'], '1.2.3.4'],
    ['v4 headless service, v4 pod', v4Headless, ['1.2.3.4'], '1.2.3.4'],
    ['v4 headless service, dual-stack pod', v4Headless, ['1.2.3.4', '2000::0'], '1.2.3.4'],
    ['v6 service, dual-stack pod', v6, ['1.2.3.4', '2000::0'], '2000::'],
    ['v6 headless service, v6 pod', v6Headless, ['2000::0'], '2000::'],
    ['v6 headless service, dual-stack pod', v6Headless, ['1.2.3.4', '2000::0'], '2000::'],
    ['v6 service, v4 pod', v6, ['1.2.3.4'], undefined],
    ['dual-stack service, IPv6 first', dual, ['1.2.3.4', '2000::0'], '2000::'],
    ['v4 service, irregular IP', v4, ['001.02.3.004'], '1.2.3.4'],
    ['v4 service, no IP at all', v4, [], undefined],
    ['v4 service, unreadable IP', v4, ['nonsense'], undefined],
    ['v4 service, unreadable IP before a good one', v4, ['nonsense', '1.2.3.4'], '1.2.3.4'],
  ])('%s: %#', (_, s, ips, expected) => {
    expect(ip(s, ips)).toBe(expected);
  });

  it.each([
    ['v4 cluster IP, v4 pod', '10.0.0.1', ['1.2.3.4'], '1.2.3.4'],
    ['v6 cluster IP, v6 pod', 'fd00::10', ['2000::1'], '2000::1'],
    ['v4 cluster IP, v6 pod', '10.0.0.1', ['2000::1'], undefined],
    ['headless, v4 pod', 'None', ['1.2.3.4'], '1.2.3.4'],
    ['headless, v6 pod', 'None', ['2000::1', '1.2.3.4'], '2000::1'],
  ])(
    'without ipFamilies, %s [UT-19 TestPodToEndpointAddressForServiceEmptyIPFamilies]',
    (_, clusterIP, ips, expected) => {
      expect(ip(service({ ipFamilies: [], clusterIP }), ips)).toBe(expected);
      expect(ip(service({ ipFamilies: undefined, clusterIP }), ips)).toBe(expected);
    },
  );

  it('looks at podIPs only', () => {
    expect(address(v4, pod('p', { podIP: '1.2.3.4', ips: [] }))).toBeUndefined();
  });

  it('the address of a pod has the node and the pod, and no version', () => {
    expect(address(v4, pod('p', { resourceVersion: '7' }))).toEqual({
      ip: '1.2.3.4',
      nodeName: 'node-1',
      targetRef: { kind: 'Pod', namespace: 'ns', name: 'p', uid: 'uid-p' },
    });
  });

  it('the address of a pod without node has no node name, while upstream writes one that the API refuses', () => {
    expect(address(v4, pod('p', { spec: { nodeName: '', containers: [] } }))).not.toHaveProperty('nodeName');
  });

  it('the address of a pod has the hostname that the pod asks for under this service', () => {
    const spec = { hostname: 'h', subdomain: 'svc', containers: [] };
    expect(address(v4, pod('p', { spec }))?.hostname).toBe('h');
    expect(address(v4, pod('p', { spec: { ...spec, subdomain: 'other' } }))).not.toHaveProperty('hostname');
  });
});
