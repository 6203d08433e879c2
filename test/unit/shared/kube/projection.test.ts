import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPodReady, readyCondition } from '#shared/kube/pods.ts';
import { labelsOfProjectedPod, ProjectedPod } from '#shared/kube/projection/pod-projection.ts';
import { decodeProjection, encodeProjection, project } from '#shared/kube/projection/projection.ts';
import { pod, service } from './objects.ts';

const anyPod = fc
  .record({
    labels: fc.dictionary(fc.constantFrom('app', 'tier', 'x'), fc.string()),
    ips: fc.array(fc.constantFrom('1.2.3.4', 'fd00::1', '010.0.0.1'), { maxLength: 2 }),
    podIP: fc.constantFrom('', '1.2.3.4', 'fd00::1'),
    ready: fc.constantFrom<boolean | 'none'>(true, false, 'none'),
    readySince: fc.constantFrom(
      '2026-01-01T00:00:00Z',
      '1970-01-01T00:00:00Z',
      '2026-01-01T00:00:00.123456Z',
      '2026-01-01T01:00:00+01:00',
    ),
    phase: fc.constantFrom('Running', 'Failed', ''),
    deleted: fc.boolean(),
    spec: fc.record(
      {
        hostname: fc.constant('h'),
        subdomain: fc.constant('svc'),
        nodeName: fc.constantFrom('', 'node-2'),
        containers: fc.constant([]),
      },
      { requiredKeys: ['containers'] },
    ),
  })
  .map((options) => pod('p', options));

describe('a projection', () => {
  it('a projection of a pod is the same after another one', () => {
    fc.assert(
      fc.property(anyPod, (p) => {
        const once = project('Pod', p);
        expect(project('Pod', once)).toEqual(once);
        expect(isPodReady(once)).toBe(isPodReady(p));
        expect(readyCondition(once)).toEqual(readyCondition(p));
        expect(labelsOfProjectedPod(encodeProjection('Pod', p))).toEqual(p.metadata.labels);
        expect(new ProjectedPod('ns', 'p', encodeProjection('Pod', p)).pod).toEqual(once);
      }),
    );
  });

  it('the projection keeps the fields of a pod that the controllers read', () => {
    const full = pod('p', {
      ips: ['1.2.3.4', 'fd00::1'],
      podIP: 'fd00::1',
      readySince: '2026-01-01T00:00:00.5Z',
      deleted: true,
      spec: {
        hostname: 'h',
        subdomain: 'svc',
        containers: [
          {
            name: 'c',
            image: 'i',
            env: [{ name: 'SECRET', value: 's' }],
            ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }],
          },
        ],
        initContainers: [
          { name: 'i', ports: [{ name: 'once', containerPort: 1, protocol: 'TCP' }] },
          {
            name: 's',
            restartPolicy: 'Always',
            ports: [{ name: 'side', containerPort: 2, protocol: 'UDP' }],
          },
        ],
      },
    });
    const seen = project('Pod', full);
    expect(seen.spec).toMatchObject({
      hostname: 'h',
      subdomain: 'svc',
      containers: [{ ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }] }],
      initContainers: [
        { restartPolicy: 'Always', ports: [{ name: 'side', containerPort: 2, protocol: 'UDP' }] },
      ],
    });
    expect(seen.status).toEqual(full.status);
    expect(seen.metadata).toEqual(full.metadata);
    expect(JSON.stringify(seen)).not.toContain('SECRET');
  });

  it('a projection keeps the grace period of a pod that is being deleted, and is the same text without one', () => {
    const deleted = pod('p', { deleted: true });
    const graceful = { ...deleted, metadata: { ...deleted.metadata, deletionGracePeriodSeconds: 30 } };
    expect(project('Pod', graceful).metadata).toEqual(graceful.metadata);
    expect(
      encodeProjection('Pod', {
        ...deleted,
        metadata: { ...deleted.metadata, deletionGracePeriodSeconds: 0 },
      }),
    ).toBe(encodeProjection('Pod', deleted));
    const living = pod('p', {});
    expect(
      encodeProjection('Pod', {
        ...living,
        metadata: { ...living.metadata, deletionGracePeriodSeconds: 30 },
      }),
    ).toBe(encodeProjection('Pod', living));
  });

  it('a projection of a service keeps an empty selector apart from none', () => {
    expect(project('Service', service({ selector: {} })).spec?.selector).toEqual({});
    expect(project('Service', service({ selector: undefined })).spec?.selector).toBeUndefined();
  });

  it('a projection of a service keeps each port', () => {
    const ports = [
      { name: 'a', port: 80, protocol: 'TCP', targetPort: 'http', appProtocol: '' },
      { name: 'b', port: 53, protocol: 'UDP', targetPort: 53 },
    ];
    expect(project('Service', service({ ports })).spec?.ports).toEqual(ports);
  });

  it('the projection of a node keeps what zones and hints are decided by', () => {
    const node = (labels: { readonly [key: string]: string }) => ({
      metadata: { name: 'n', uid: 'u', labels },
      status: { allocatable: { cpu: '4' }, conditions: [{ type: 'Ready', status: 'True' }] },
    });
    const zone = { 'topology.kubernetes.io/zone': 'eu-central-1a' };
    const id = { 'topology.k8s.aws/zone-id': 'euc1-az2' };
    const controlPlane = { 'node-role.kubernetes.io/control-plane': '' };
    for (const labels of [
      {},
      zone,
      id,
      { ...zone, ...id },
      controlPlane,
      { ...zone, ...controlPlane, ...id },
    ])
      expect(project('Node', node({ ...labels, other: 'x' })).metadata.labels).toEqual(labels);
    expect(encodeProjection('Node', node(zone))).toBe('["u","eu-central-1a",1,"4"]');
    expect(encodeProjection('Node', node({ ...zone, ...controlPlane }))).toBe(
      '["u","eu-central-1a",1,"4",1]',
    );
    expect(encodeProjection('Node', node({ ...zone, ...id }))).toBe(
      '["u","eu-central-1a",1,"4",0,"euc1-az2"]',
    );
  });

  it('a projection cannot be read from just any text', () => {
    expect(() => decodeProjection('Pod', 'ns', 'p', '{}')).toThrow(SyntaxError);
    expect(() => decodeProjection('Pod', 'ns', 'p', 'x')).toThrow(SyntaxError);
  });
});
