import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeExports } from '#shared/clusterset/exports/merge.ts';
import { maxPorts } from '#shared/clusterset/exports/merge-ports.ts';
import type { ExportedService } from '#shared/clusterset/exports/precedence.ts';
import type { Locality } from '#shared/clusterset/imports/locality.ts';
import type { Labels } from '#shared/kube/labels.ts';
import { exported, http } from './fixtures.ts';

const older = { createdAt: '2025-01-01T00:00:00Z' };
const reasons = (exports: readonly ExportedService[]): readonly string[] =>
  mergeExports(exports)?.conflicts.map((c) => c.reason) ?? [];

describe('the merge of exports', () => {
  it('the merge of exports is nothing without an export', () => {
    expect(mergeExports([])).toBeUndefined();
  });

  it('the merge of exports takes what exports agree on, and finds no conflict', () => {
    expect(mergeExports([exported('b'), exported('c')])).toEqual({
      winner: { cluster: 'b', uid: 'uid-b' },
      spec: {
        type: 'ClusterSetIP',
        ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
        ipFamilies: ['IPv4'],
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
      },
      labels: {},
      annotations: {},
      clusters: ['b', 'c'],
      conflicts: [],
    });
  });

  it.each([
    ['type', 'TypeConflict', { clusterIP: 'None' }, 'Headless'],
    [
      'sessionAffinity',
      'SessionAffinityConflict,SessionAffinityConfigConflict',
      { sessionAffinity: 'ClientIP' },
      'ClientIP',
    ],
    ['internalTrafficPolicy', 'InternalTrafficPolicyConflict', { internalTrafficPolicy: 'Local' }, 'Local'],
    [
      'trafficDistribution',
      'TrafficDistributionConflict',
      { trafficDistribution: 'PreferClose' },
      'PreferClose',
    ],
  ] as const)(
    'the merge of exports gives %s to the oldest export, and reports the conflict with others (MC-13, MC-16)',
    (field, reason, spec, value) => {
      const merged = mergeExports([exported('a'), exported('c', spec, older)]);
      expect(merged?.spec[field]).toBe(value);
      expect(merged?.conflicts.map((c) => c.reason).join()).toBe(reason);
      expect(merged?.conflicts[0]?.message).toContain(
        'of cluster "c", whose export has precedence. 1/2 clusters disagree.',
      );
    },
  );

  it('the merge of exports treats the API server’s defaults as equal to absent fields', () => {
    const spelledOut = { sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' };
    expect(reasons([exported('a'), exported('b', spelledOut)])).toEqual([]);
    const withSeconds = {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    };
    expect(reasons([exported('a', { sessionAffinity: 'ClientIP' }), exported('b', withSeconds)])).toEqual([]);
  });

  it('the merge of exports carries no sessionAffinityConfig without ClientIP, which the API server refuses', () => {
    const config = { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } };
    expect(mergeExports([exported('a', config)])?.spec.sessionAffinityConfig).toBeUndefined();
  });

  it('the merge of exports takes labels and annotations of the winner alone (MC-2, MC-16)', () => {
    const b = exported('b', {}, { ...older, labels: { tier: 'front' }, annotations: { note: 'b' } });
    const merged = mergeExports([exported('a', {}, { labels: { tier: 'back' } }), b]);
    expect(merged?.labels).toEqual({ tier: 'front' });
    expect(merged?.annotations).toEqual({ note: 'b' });
    expect(merged?.conflicts.map((c) => c.reason)).toEqual(['LabelsConflict', 'AnnotationsConflict']);
  });

  it('the merge of exports lets the cluster id decide between exports of one second', () => {
    expect(mergeExports([exported('c'), exported('b')])?.winner.cluster).toBe('b');
  });

  it('the merge of exports keeps the winner that it had, also when an export comes that claims to be older (MC-62)', () => {
    const winner = { cluster: 'b', uid: 'uid-b' };
    const backdated = exported('x', { clusterIP: 'None' }, { createdAt: '1970-01-01T00:00:01Z' });
    expect(mergeExports([backdated, exported('b')], winner)?.spec.type).toBe('ClusterSetIP');
  });

  it('the merge of exports gives the winner’s place up when its export was deleted and made again', () => {
    const winner = { cluster: 'b', uid: 'uid-of-a-former-export' };
    expect(mergeExports([exported('a'), exported('b')], winner)?.winner.cluster).toBe('a');
  });
});

describe('the locality of an import (MC-91)', () => {
  const local = { locality: { prefer: 'local', minLocal: 30 } } as const;

  it('the locality of an import is that of the export with precedence, and the others are reported as conflicts', () => {
    const merged = mergeExports([
      exported('a', {}, { locality: { prefer: 'zone' } }),
      exported('b', {}, { ...older, ...local }),
    ]);
    expect(merged?.locality).toEqual({ prefer: 'local', minLocal: 30 });
    expect(merged?.conflicts).toEqual([
      {
        reason: 'PreferConflict',
        message:
          'Conflicting fleet-endpoints/prefer. Using "local" of cluster "b", whose export has precedence. 1/2 clusters disagree.',
      },
      {
        reason: 'MinLocalConflict',
        message:
          'Conflicting fleet-endpoints/min-local. Using "30%" of cluster "b", whose export has precedence. 1/2 clusters disagree.',
      },
    ]);
  });

  it('the locality of an import is none where the export with precedence asks for none', () => {
    const merged = mergeExports([exported('a', {}, local), exported('b', {}, older)]);
    expect(merged).not.toHaveProperty('locality');
    expect(merged?.conflicts[0]?.message).toContain('Using "any" of cluster "b"');
  });

  it.each(['PreferClose', 'PreferSameZone', 'PreferSameNode'])(
    'the locality of an import follows from trafficDistribution %s: the zone',
    (value) => {
      expect(mergeExports([exported('a', { trafficDistribution: value })])?.locality).toEqual({
        prefer: 'zone',
      });
      expect(mergeExports([exported('a', { trafficDistribution: value }, local)])?.locality).toEqual(
        local.locality,
      );
    },
  );

  it('the locality of an import does not follow from a trafficDistribution that is not known', () => {
    expect(mergeExports([exported('a', { trafficDistribution: 'PreferMoon' })])).not.toHaveProperty(
      'locality',
    );
  });
});

describe('the ports of an import', () => {
  const metrics = { name: 'metrics', port: 9090, protocol: 'TCP' } as const;
  const portsOf = (...exports: readonly ExportedService[]) =>
    mergeExports(exports)?.spec.ports.map((p) => `${p.name ?? ''} ${p.port}/${p.protocol}`);

  it('the ports of an import are the union, and a difference is a conflict (MC-15)', () => {
    const exports = [exported('a', { ports: [http] }), exported('b', { ports: [http, metrics] })];
    expect(portsOf(...exports)).toEqual(['http 80/TCP', 'metrics 9090/TCP']);
    expect(reasons(exports)).toEqual(['PortConflict']);
  });

  it('the ports of an import keep the definition of the export with precedence where a name has two', () => {
    const exports = [exported('a', { ports: [{ ...http, port: 81 }] }), exported('b', {}, older)];
    expect(portsOf(...exports)).toEqual(['http 80/TCP']);
    expect(mergeExports(exports)?.conflicts[0]?.message).toBe(
      'Conflicting ports. Port http 81/TCP of cluster "a" is left out for http 80/TCP of cluster "b", which has precedence. ' +
        '1/2 clusters do not have exactly the ports of the import.',
    );
  });

  it('the ports of an import have the appProtocol of the export with precedence, and another one is a conflict', () => {
    const exports = [
      exported('a', { ports: [{ ...http, appProtocol: 'kubernetes.io/h2c' }] }),
      exported('b', {}, older),
    ];
    const merged = mergeExports(exports);
    expect(merged?.spec.ports).toEqual([{ name: 'http', port: 80, protocol: 'TCP' }]);
    expect(merged?.conflicts).toEqual([
      {
        reason: 'PortConflict',
        message:
          'Conflicting ports. Port http 80/TCP (kubernetes.io/h2c) of cluster "a" is imported as http 80/TCP of cluster "b", which has precedence. ' +
          '1/2 clusters do not have exactly the ports of the import.',
      },
    ]);
  });

  it('the ports of an import have a number and protocol once, under one name', () => {
    expect(portsOf(exported('a'), exported('b', { ports: [{ ...http, name: 'web' }] }))).toEqual([
      'http 80/TCP',
    ]);
    expect(
      portsOf(exported('a'), exported('b', { ports: [{ ...http, name: 'web', protocol: 'UDP' }] })),
    ).toEqual(['http 80/TCP', 'web 80/UDP']);
  });

  it('the ports of an import never include an unnamed port beside others, because a Service with several must name them', () => {
    const unnamed = { port: 9000, protocol: 'TCP' };
    expect(portsOf(exported('a'), exported('b', { ports: [unnamed] }))).toEqual(['http 80/TCP']);
    expect(portsOf(exported('a', { ports: [unnamed] }), exported('b'))).toEqual([' 9000/TCP']);
  });

  it('the ports of an import do not differ by targetPort and nodePort, which are the business of each cluster', () => {
    expect(
      reasons([exported('a', { ports: [{ ...http, targetPort: 1, nodePort: 30_000 }] }), exported('b')]),
    ).toEqual([]);
  });

  it('the ports of an import are 64 at most, and left-out ports are reported (MC-59)', () => {
    const ports = Array.from({ length: maxPorts + 1 }, (_, i) => ({
      name: `p${i}`,
      port: i + 1,
      protocol: 'TCP',
    }));
    const merged = mergeExports([exported('a', { ports })]);
    expect(merged?.spec.ports).toHaveLength(maxPorts);
    expect(merged?.conflicts.map((c) => c.reason)).toEqual(['PortConflict']);
  });
});

describe('the families of an import (MC-17)', () => {
  const families = (...lists: readonly (readonly string[])[]) =>
    lists.map((ipFamilies, i) => exported(`c${i}`, { ipFamilies: [...ipFamilies] }));

  it('the families of an import are those of the export with precedence, and an export that lacks one is a conflict', () => {
    const merged = mergeExports(families(['IPv4', 'IPv6'], ['IPv4']));
    expect(merged?.spec.ipFamilies).toEqual(['IPv4', 'IPv6']);
    expect(merged?.conflicts).toMatchObject([{ reason: 'IPFamilyConflict' }]);
    expect(merged?.conflicts[0]?.message).toContain(
      '1/2 clusters lack one of them and get no traffic of it: c1.',
    );
  });

  it('the families of an import do not grow by an export without precedence, and one that has them is no conflict', () => {
    const merged = mergeExports(families(['IPv4'], ['IPv6', 'IPv4']));
    expect(merged?.spec.ipFamilies).toEqual(['IPv4']);
    expect(merged?.conflicts).toEqual([]);
  });

  it('the families of an import leave an export out that has none of them', () => {
    const merged = mergeExports(families(['IPv4'], ['IPv6'], ['IPv4', 'IPv6']));
    expect(merged?.spec.ipFamilies).toEqual(['IPv4']);
    expect(merged?.conflicts[0]?.message).toContain(
      '1/3 clusters lack one of them and get no traffic of it: c1.',
    );
  });

  it('the families of an import are those of the next export where the first one names none', () => {
    expect(mergeExports(families([], ['IPv6']))?.spec.ipFamilies).toEqual(['IPv6']);
  });
});

/**
 * As the API server takes them: a number and protocol once, and a port without a name only where it is alone.
 */
function valid<P extends { readonly name: string; readonly port: number; readonly protocol: string }>(
  ports: readonly P[],
): readonly P[] {
  const once = ports.filter(
    (p, i) => ports.findIndex((q) => q.port === p.port && q.protocol === p.protocol) === i,
  );
  return once.length > 1 ? once.filter((p) => p.name) : once;
}

const exportArbitrary = fc.record({
  created: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 'not a time', undefined),
  clusterIP: fc.constantFrom('10.0.0.1', 'None'),
  ports: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', ''),
      port: fc.integer({ min: 1, max: 3 }),
      protocol: fc.constantFrom('TCP', 'UDP'),
      appProtocol: fc.constantFrom(undefined, 'http'),
    }),
    { maxLength: 4, selector: (p) => p.name },
  ),
  families: fc.constantFrom(['IPv4'], ['IPv6'], ['IPv6', 'IPv4'], []),
  affinity: fc.constantFrom('None', 'ClientIP', undefined),
  policy: fc.constantFrom('Cluster', 'Local', undefined),
  labels: fc.constantFrom<Labels>({}, { a: '1' }, { a: '2' }),
  locality: fc.constantFrom<Locality | undefined>(
    undefined,
    { prefer: 'zone' },
    { prefer: 'local' },
    { prefer: 'local', minLocal: 30 },
  ),
});

const exportsArbitrary = fc.array(exportArbitrary, { minLength: 1, maxLength: 6 }).map((all) =>
  all.map(
    ({ created, clusterIP, ports, families, affinity, policy, labels, locality }, i): ExportedService => ({
      cluster: `c${i}`,
      uid: `u${i}`,
      createdAt: created,
      labels,
      annotations: {},
      spec: {
        clusterIP,
        ports: valid(ports).map(({ appProtocol, ...p }) => ({ ...p, ...(appProtocol && { appProtocol }) })),
        ipFamilies: [...families],
        ...(affinity && { sessionAffinity: affinity }),
        ...(policy && { internalTrafficPolicy: policy }),
      },
      ...(locality && { locality }),
    }),
  ),
);

describe('the merge of any exports', () => {
  it('the merge of any exports does not depend on their order (MC-56)', () => {
    const shuffled = exportsArbitrary.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, fc.nat(6), ([all, other], w) => {
        const winner = { cluster: `c${w}`, uid: `u${w}` };
        expect(mergeExports(other, winner)).toEqual(mergeExports(all, winner));
      }),
    );
  });

  it('the merge of any exports has ports that one Service can have', () => {
    fc.assert(
      fc.property(exportsArbitrary, (all) => {
        const ports = mergeExports(all)?.spec.ports ?? [];
        expect(new Set(ports.map((p) => p.name)).size).toBe(ports.length);
        expect(new Set(ports.map((p) => `${p.port}/${p.protocol}`)).size).toBe(ports.length);
        if (ports.length > 1) expect(ports.every((p) => p.name)).toBe(true);
      }),
    );
  });

  it('the merge of any exports reports a conflict if and only if two exports differ visibly for clients', () => {
    const seen = ({ spec, labels, locality }: ExportedService): string =>
      JSON.stringify([
        spec.clusterIP === 'None',
        (spec.ports ?? []).map((p) => JSON.stringify([p.name, p.port, p.protocol, p.appProtocol])).sort(),
        spec.sessionAffinity ?? 'None',
        spec.internalTrafficPolicy ?? 'Cluster',
        labels,
        locality,
      ]);
    fc.assert(
      fc.property(exportsArbitrary, (all) => {
        const differ = new Set(all.map(seen)).size > 1;
        const said = mergeExports(all)?.conflicts.some((c) => c.reason !== 'IPFamilyConflict');
        expect(said).toBe(differ);
      }),
    );
  });

  it('the merge of any exports never lets a newcomer take the place of a sticky winner', () => {
    fc.assert(
      fc.property(exportsArbitrary, exportsArbitrary, (all, more) => {
        const winner = mergeExports(all)?.winner;
        const newcomers = more.map((e) => ({ ...e, cluster: `new-${e.cluster}` }));
        expect(mergeExports([...newcomers, ...all], winner)?.winner).toEqual(winner);
      }),
    );
  });
});
