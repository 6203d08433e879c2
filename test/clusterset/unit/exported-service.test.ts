import { describe, expect, it } from 'vitest';
import { checkExport, maxExportBytes } from '#shared/clusterset/exports/exported-service.ts';
import type { ServiceExport } from '#shared/kube/mcs-types.ts';
import type { Service } from '#shared/kube/types.ts';
import { http, webService } from './fixtures.ts';

const serviceExport = (spec: ServiceExport['spec'] = {}): ServiceExport => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: { namespace: 'shop', name: 'web', uid: 'export' },
  spec,
});
const check = (service: object = {}, spec?: ServiceExport['spec']) =>
  checkExport('b', serviceExport(spec), { valid: true, service: webService(service as Service['spec']) });

describe('the export of a Service', () => {
  it('an export has the fields that the merge reads, and no others', () => {
    const { exported, problems } = check({
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
    });
    expect(exported?.spec).toEqual({
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      ipFamilies: ['IPv4'],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
    });
    expect(problems).toEqual([]);
  });

  it.each([
    [
      'a port above 65535',
      { ports: [http, { ...http, name: 'evil', port: 99_999_999 }] },
      'port is left out: no API server takes 99999999.',
    ],
    [
      'a port named in capitals',
      { ports: [http, { ...http, name: 'EVIL', port: 81 }] },
      'port is left out: no API server takes 81.',
    ],
    [
      'a port of a protocol without name',
      { ports: [http, { ...http, name: 'evil', protocol: 'QUIC' }] },
      'port is left out: no API server takes 80.',
    ],
    ['a port that is no object', { ports: [http, 5] }, 'port is left out: no API server takes 5.'],
    [
      'an affinity that does not exist',
      { sessionAffinity: 'Evil' },
      'sessionAffinity is left out: no API server takes "Evil".',
    ],
    [
      'a timeout of text',
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 'x' } } },
      'sessionAffinityConfig.clientIP.timeoutSeconds is left out: no API server takes "x".',
    ],
    [
      'a policy that does not exist',
      { internalTrafficPolicy: 'Evil' },
      'internalTrafficPolicy is left out: no API server takes "Evil".',
    ],
    [
      'a distribution that does not exist',
      { trafficDistribution: 'Evil' },
      'trafficDistribution is left out: no API server takes "Evil".',
    ],
  ])('an export leaves out %s, and names it', (_, service, problem) => {
    const { exported, problems } = check(service);
    expect(problems).toEqual([problem]);
    expect(exported?.spec).toEqual({
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      ipFamilies: ['IPv4'],
    });
  });

  it('an export leaves out labels and annotations that no object can have', () => {
    const { exported, problems } = check(
      {},
      {
        exportedLabels: { a: 'b', 'no key!': 'b', c: 'no value!' },
        exportedAnnotations: { x: 'any ✓', 'a/b/c': '' },
      },
    );
    expect([exported?.labels, exported?.annotations]).toEqual([{ a: 'b' }, { x: 'any ✓' }]);
    expect(problems).toHaveLength(3);
  });

  it('an export of more bytes or ports than the bounds is not valid, and one of just as many is', () => {
    const reason = (of: ReturnType<typeof check>): string =>
      of.validity.valid ? 'valid' : `${of.validity.reason}: ${of.validity.message}`;
    const ports = (n: number): object => ({
      ports: Array.from({ length: n }, (_, i) => ({ name: `p${i}`, port: i + 1, protocol: 'TCP' })),
    });
    expect(reason(check(ports(64)))).toBe('valid');
    expect(reason(check(ports(65)))).toBe('TooLarge: the Service has 65 ports: at most 64 are exported');
    const annotations = (n: number) => ({ exportedAnnotations: { a: 'a'.repeat(n) } });
    expect(reason(check({}, annotations(maxExportBytes - 300)))).toBe('valid');
    expect(reason(check({}, annotations(maxExportBytes)))).toMatch(
      /^TooLarge: the export has \d+ bytes: at most 32768 are exported$/,
    );
  });
});
