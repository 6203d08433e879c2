import { describe, expect, it } from 'vitest';
import { inHashOrder, portHash, portMapKey, portsByPod } from '#shared/controllers/slices/ports.ts';
import type { Pod } from '#shared/kube/types.ts';
import { pod, service } from './fixtures.ts';

const withPorts = (ports: readonly object[], sidecar: readonly object[] = []): Pod =>
  pod(1, {
    spec: {
      containers: [{ name: 'c', ports }],
      initContainers: [{ name: 'i', restartPolicy: 'Always', ports: sidecar }],
    } as Pod['spec'],
  });

describe('portsByPod [UT-102 TestGetEndpointPorts]', () => {
  it('carries the app protocol of the port that has one', () => {
    const svc = service({
      ports: [
        { name: 'http', port: 80, targetPort: 80, protocol: 'TCP' },
        { name: 'https', port: 443, targetPort: 443, protocol: 'TCP', appProtocol: 'https' },
      ],
    });
    expect(portsByPod(svc)(pod(1)).ports).toEqual([
      { name: 'http', port: 80, protocol: 'TCP' },
      { name: 'https', port: 443, protocol: 'TCP', appProtocol: 'https' },
    ]);
  });

  const named = service({
    ports: [
      { name: 'http', port: 80, targetPort: 'http', protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' },
    ],
  });
  const resolved = (port: number) => [
    { name: 'http', port, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' },
  ];

  it('resolves names, in sidecars too, containers first', () => {
    const portsOf = portsByPod(named);
    expect(portsOf(withPorts([{ name: 'http', containerPort: 8080, protocol: 'TCP' }])).ports).toEqual(
      resolved(8080),
    );
    expect(portsOf(withPorts([], [{ name: 'http', containerPort: 8081, protocol: 'TCP' }])).ports).toEqual(
      resolved(8081),
    );
    const both = withPorts(
      [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
      [{ name: 'http', containerPort: 8081, protocol: 'TCP' }],
    );
    expect(portsOf(both).ports).toEqual(resolved(8080));
  });

  it('leaves out a name that the pod does not have with that protocol', () => {
    expect(
      portsByPod(named)(withPorts([{ name: 'http', containerPort: 8080, protocol: 'UDP' }])).ports,
    ).toEqual([]);
  });

  it('portsByPod has none for a service without ports, headless or not', () => {
    expect(portsByPod(service({ ports: undefined, clusterIP: 'None' }))(pod(1))).toEqual({
      key: '',
      ports: [],
    });
    expect(portsByPod(service({ ports: [] }))(pod(1)).ports).toEqual([]);
  });

  it('makes each list of numbers once', () => {
    const portsOf = portsByPod(service());
    expect(portsOf(pod(1))).toBe(portsOf(pod(2)));
  });
});

describe('portMapKey', () => {
  const [a, b] = [
    { name: 'a', port: 1, protocol: 'TCP' },
    { name: 'b', port: 2, protocol: 'TCP' },
  ];

  it('portMapKey does not depend on the order, and takes null for none', () => {
    expect(portMapKey([a, b])).toBe(portMapKey([b, a]));
    expect(portMapKey(null)).toBe(portMapKey([]));
  });

  it('the comparison distinguishes an absent field from an empty one, and one port from two', () => {
    const keys = [
      [a],
      [a, a],
      [{ ...a, name: '' }],
      [{ port: 1, protocol: 'TCP' }],
      [{ ...a, appProtocol: '' }],
      [{ ...a, port: 2 }],
      [],
    ].map(portMapKey);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('the order of ports', () => {
  it('hashes a port as upstream does', () => {
    expect(portHash({ name: 'http', port: 8080, protocol: 'TCP' })).toBe('0e874d5677090ee5c32afa85f637c347');
    expect(portHash({ name: 'dns', port: 53, protocol: 'UDP', appProtocol: 'foo' })).toBe(
      '159aa70287cbc31865ba1ca9c798d95d',
    );
    expect(portHash({ name: 'https', port: 8443, protocol: 'TCP' })).toBe('96bd08971af7335e18af891d4fe83877');
    expect(portHash({ name: '', port: 80, protocol: 'TCP' })).toBe('73b52e075e78e70787d5e6ffd2212eef');
  });

  it('the order of ports is that of the hashes', () => {
    const ports = ['https', 'dns', 'http'].map((name, i) => ({
      name,
      port: [8443, 53, 8080][i],
      protocol: i === 1 ? 'UDP' : 'TCP',
    }));
    const sorted = inHashOrder(ports).map(portHash);
    expect(sorted).toEqual([...sorted].sort());
  });
});
