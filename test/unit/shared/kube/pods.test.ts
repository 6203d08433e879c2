import { describe, expect, it } from 'vitest';
import { findPort, isPodReady, shouldPodBeInEndpoints, shouldSetHostname } from '#shared/kube/pods.ts';
import type { Pod, ServicePort } from '#shared/kube/types.ts';
import { pod, service } from './objects.ts';

describe('isPodReady', () => {
  it('isPodReady is the status of the first Ready condition', () => {
    const conditions = (...statuses: string[]): Pod => ({
      ...pod('p'),
      status: {
        conditions: [
          { type: 'PodScheduled', status: 'True' },
          ...statuses.map((status) => ({ type: 'Ready', status })),
        ],
      },
    });
    expect(isPodReady(conditions('True'))).toBe(true);
    expect(isPodReady(conditions('False', 'True'))).toBe(false);
    expect(isPodReady(conditions('Unknown'))).toBe(false);
    expect(isPodReady(conditions())).toBe(false);
    expect(isPodReady({ metadata: { name: 'p' } })).toBe(false);
  });
});

describe('shouldPodBeInEndpoints [UT-51 TestShouldPodBeInEndpoints]', () => {
  it.each([
    [
      'Failed, never restarted',
      pod('p', { phase: 'Failed', spec: { restartPolicy: 'Never', containers: [] } }),
      false,
    ],
    [
      'Succeeded, never restarted',
      pod('p', { phase: 'Succeeded', spec: { restartPolicy: 'Never', containers: [] } }),
      false,
    ],
    [
      'Succeeded, restarted on failure',
      pod('p', { phase: 'Succeeded', spec: { restartPolicy: 'OnFailure', containers: [] } }),
      false,
    ],
    [
      'Failed, always restarted',
      pod('p', { phase: 'Failed', spec: { restartPolicy: 'Always', containers: [] } }),
      false,
    ],
    ['without an IP', pod('p', { ips: [] }), false],
    ['terminating', pod('p', { deleted: true }), false],
    ['Pending', pod('p', { phase: 'Pending' }), true],
    ['Unknown', pod('p', { phase: 'Unknown' }), true],
    ['Running', pod('p'), true],
    ['with podIPs but no podIP', pod('p', { podIP: '', ips: ['1.2.3.4', 'fd00::1'] }), true],
    ['with a podIP but no podIPs', pod('p', { podIP: '1.2.3.4', ips: [] }), true],
  ])('a pod %s: %#', (_, p, expected) => {
    expect(shouldPodBeInEndpoints(p, false)).toBe(expected);
  });

  it('takes a terminating pod if asked to, but no terminal one', () => {
    expect(shouldPodBeInEndpoints(pod('p', { deleted: true }), true)).toBe(true);
    expect(shouldPodBeInEndpoints(pod('p', { deleted: true, phase: 'Failed' }), true)).toBe(false);
  });
});

describe('shouldSetHostname [UT-52 TestShouldSetHostname]', () => {
  it.each([
    ['everything fits', { hostname: 'h', subdomain: 'svc', containers: [] }, 'ns', true],
    ['there is no hostname', { subdomain: 'svc', containers: [] }, 'ns', false],
    ['the subdomain is another', { hostname: 'h', subdomain: 'other', containers: [] }, 'ns', false],
    ['the namespace is another', { hostname: 'h', subdomain: 'svc', containers: [] }, 'other', false],
  ])('when %s', (_, spec, namespace, expected) => {
    expect(shouldSetHostname(pod('p', { spec, namespace }), service())).toBe(expected);
  });
});

describe('findPort', () => {
  const http: ServicePort = { port: 80, protocol: 'TCP', targetPort: 'http' };
  const container = (name: string, containerPort: number, protocol?: string) => ({
    name: 'c',
    ports: [{ name, containerPort, ...(protocol && { protocol }) }],
  });
  const sidecar = { ...container('http', 7070, 'TCP'), restartPolicy: 'Always' };

  it('a numeric target port is used with any container ports', () => {
    expect(findPort(pod('p', { spec: { containers: [] } }), { port: 80, targetPort: 9999 })).toBe(9999);
    expect(findPort(pod('p'), { port: 80 })).toBe(0);
  });

  it('finds a name in the first container that has it', () => {
    const containers = [
      container('dns', 53, 'UDP'),
      container('http', 8080, 'TCP'),
      container('http', 8081, 'TCP'),
    ];
    expect(findPort(pod('p', { spec: { containers } }), http)).toBe(8080);
  });

  it('wants the same protocol, in so many words', () => {
    expect(
      findPort(pod('p', { spec: { containers: [container('http', 8080, 'UDP')] } }), http),
    ).toBeUndefined();
    expect(findPort(pod('p', { spec: { containers: [container('http', 8080)] } }), http)).toBeUndefined();
  });

  it('finds a name in a sidecar, after the containers', () => {
    expect(findPort(pod('p', { spec: { containers: [], initContainers: [sidecar] } }), http)).toBe(7070);
    expect(
      findPort(
        pod('p', { spec: { containers: [container('http', 8080, 'TCP')], initContainers: [sidecar] } }),
        http,
      ),
    ).toBe(8080);
  });

  it('passes over init containers that end', () => {
    const ends = container('http', 7070, 'TCP');
    expect(findPort(pod('p', { spec: { containers: [], initContainers: [ends] } }), http)).toBeUndefined();
  });
});
