import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportConditions } from '#shared/clusterset/exports/conditions.ts';
import { askedLocality } from '#shared/clusterset/imports/locality.ts';
import {
  decideLocalityHints,
  type EndpointToHint,
  type KeptEndpoint,
  type ToHint,
  zoneElsewhere,
} from '#shared/clusterset/imports/locality-hints.ts';
import type { Service } from '#shared/kube/types.ts';

const asked = (prefer?: string, minLocal?: string) =>
  askedLocality({
    ...(prefer !== undefined && { 'fleet-endpoints/prefer': prefer }),
    ...(minLocal !== undefined && { 'fleet-endpoints/min-local': minLocal }),
  });

describe('the annotations of an export', () => {
  it('the annotations of an export ask for local endpoints, with a share, for those of the zone, or for any', () => {
    expect(asked()).toEqual({ locality: undefined, problems: [] });
    expect(asked('any')).toEqual({ locality: undefined, problems: [] });
    expect(asked('zone')).toEqual({ locality: { prefer: 'zone' }, problems: [] });
    expect(asked('local')).toEqual({ locality: { prefer: 'local' }, problems: [] });
    for (const share of [1, 30, 100])
      expect(asked('local', `${share}%`)).toEqual({
        locality: { prefer: 'local', minLocal: share },
        problems: [],
      });
  });

  it('the annotations of an export are ignored if a value is invalid, and the error has the allowed values', () => {
    expect(asked('Local')).toEqual({
      locality: undefined,
      problems: ['Annotation fleet-endpoints/prefer is "Local": allowed are local, zone, any. Used is any.'],
    });
    for (const share of ['', '30', '0%', '101%', '030%', '3.5%', '-1%', 'half'])
      expect(asked('local', share)).toEqual({
        locality: { prefer: 'local' },
        problems: [
          `Annotation fleet-endpoints/min-local is ${JSON.stringify(share)}: allowed are 1% to 100%. Used is none.`,
        ],
      });
    for (const prefer of [undefined, 'zone', 'any'])
      expect(asked(prefer, '30%').problems).toEqual([
        'Annotation fleet-endpoints/min-local has no effect without fleet-endpoints/prefer: local.',
      ]);
  });

  it('the annotations of an export do not affect its validity, and its condition has their errors', () => {
    const validity = { valid: true, service: {} as Service } as const;
    const valid = (problems?: readonly string[]) =>
      exportConditions({ validity, conflicts: [], ...(problems && { problems }) })[0];
    expect(valid(asked('near').problems)).toEqual({
      type: 'Valid',
      status: 'True',
      reason: 'Valid',
      message: 'Annotation fleet-endpoints/prefer is "near": allowed are local, zone, any. Used is any.',
    });
    expect(valid([])).toEqual(valid());
  });
});

const endpoint = (
  cluster: string,
  i: number,
  { isReady = true, zone = 'z1' }: { isReady?: boolean; zone?: string | undefined } = {},
): EndpointToHint => ({
  cluster,
  key: `10.${cluster.charCodeAt(0)}.0.${i}`,
  isReady,
  zone,
});
const several = (cluster: string, count: number, more = {}) =>
  Array.from({ length: count }, (_, i) => endpoint(cluster, i, more));
const toHint = (endpoints: readonly EndpointToHint[], more: Partial<ToHint> = {}): ToHint => ({
  locality: { prefer: 'local' },
  importer: { cluster: 'a', zones: ['z1', 'z2'] },
  isSource: true,
  endpoints,
  kept: [],
  ...more,
});
/** Address → zones. */
const hintsBy = (to: ToHint): { readonly [key: string]: string } =>
  Object.fromEntries(
    [...decideLocalityHints(to).hints].map(([key, { forZones }]) => [
      key,
      (forZones ?? []).map((z) => z.name).join(),
    ]),
  );
const why = (to: ToHint): string => decideLocalityHints(to).why;
const spilled = (to: ToHint): readonly string[] =>
  to.endpoints
    .filter((e) => e.cluster !== to.importer.cluster && hintsBy(to)[e.key] === 'z1,z2')
    .map((e) => e.key);

describe('hints of an import that prefers local endpoints', () => {
  it('local endpoints are hinted for every zone of the cluster, and the others for a zone that no node has (MC-90)', () => {
    const to = toHint([endpoint('a', 1), endpoint('a', 2, { isReady: false }), endpoint('b', 1)]);
    expect(hintsBy(to)).toEqual({ '10.97.0.1': 'z1,z2', '10.97.0.2': 'z1,z2', '10.98.0.1': zoneElsewhere });
    expect(why(to)).toBe('1 of 2 ready endpoints is of the cluster itself, and they alone are used');
  });

  it('no endpoint has hints where the cluster exports nothing of the name, or its nodes have no zone, or more than the API takes', () => {
    const endpoints = [...several('a', 2), ...several('b', 2)];
    const zones = Array.from({ length: 9 }, (_, i) => `z${i}`);
    for (const [more, text] of [
      [
        { isSource: false },
        'no endpoint has hints: the cluster does not export the name, so none of the endpoints is local',
      ],
      [{ importer: { cluster: 'a', zones: [] } }, 'no endpoint has hints: no node of the cluster has a zone'],
      [
        { importer: { cluster: 'a', zones } },
        'no endpoint has hints: the nodes of the cluster have 9 zones, and an endpoint takes 8 at most',
      ],
    ] as const) {
      expect(hintsBy(toHint(endpoints, more))).toEqual({});
      expect(why(toHint(endpoints, more))).toBe(text);
    }
  });

  it('endpoints of other clusters are hinted in until the used endpoints are the wanted share of all ready endpoints', () => {
    const locality = { prefer: 'local', minLocal: 30 } as const;
    const count = (local: number, remote: number) =>
      spilled(toHint([...several('a', local), ...several('b', remote)], { locality })).length;
    expect([count(3, 7), count(2, 7), count(2, 8), count(1, 9), count(1, 19)]).toEqual([0, 1, 1, 2, 5]);
    const all = { locality: { prefer: 'local', minLocal: 100 } } as const;
    expect(spilled(toHint([...several('a', 1), ...several('b', 4)], all))).toHaveLength(4);
    expect(why(toHint([...several('a', 1), ...several('b', 9)], { locality }))).toBe(
      '1 of 10 ready endpoints is of the cluster itself: 2 of other clusters are used too',
    );
  });

  it('without a local endpoint that is ready none is hinted in, so that all are used', () => {
    const locality = { prefer: 'local', minLocal: 30 } as const;
    const to = toHint([...several('a', 3, { isReady: false }), ...several('b', 9)], { locality });
    expect(spilled(to)).toEqual([]);
    expect(why(to)).toBe(
      '0 of 9 ready endpoints are of the cluster itself, so those of other clusters are used',
    );
  });

  it('two importers burden different endpoints of the same source', () => {
    const endpoints = [...several('a', 1), ...several('b', 1), ...several('c', 30)];
    const of = (cluster: string) =>
      spilled(
        toHint(endpoints, {
          locality: { prefer: 'local', minLocal: 30 },
          importer: { cluster, zones: ['z1', 'z2'] },
        }),
      );
    expect(of('a')).toHaveLength(9);
    expect(of('a')).not.toEqual(of('b'));
  });

  it('slices of a silent source that are hinted in already count, and those without hints take the hints from all', () => {
    const kept = (zone: string | undefined, isReady = true): KeptEndpoint => ({
      cluster: 'b',
      isReady,
      zones: zone === undefined ? [] : [zone],
    });
    const endpoints = [...several('a', 1), ...several('c', 6)];
    const locality = { prefer: 'local', minLocal: 30 } as const;
    const count = (...keptOnes: readonly KeptEndpoint[]) =>
      spilled(toHint(endpoints, { locality, kept: keptOnes })).length;
    // The hints want 3 of 9 ready endpoints.
    expect(count(kept(zoneElsewhere), kept(zoneElsewhere))).toBe(2);
    expect(count(kept(zoneElsewhere), kept('z1'))).toBe(1);
    expect(count(kept('z2'), kept('z1'))).toBe(0);
    expect(count(kept(undefined, false))).toBe(2);
    const to = toHint(endpoints, { locality, kept: [kept('z1'), kept(undefined)] });
    expect(hintsBy(to)).toEqual({});
    expect(why(to)).toBe('no endpoint has hints: slices of b, which stay as they are, have none');
  });
});

describe('hints of an import that prefers the zone', () => {
  const locality = { prefer: 'zone' } as const;

  it('each endpoint is hinted for its own zone, of whichever cluster it is', () => {
    const endpoints = [
      endpoint('a', 1, { zone: 'z1' }),
      endpoint('b', 1, { zone: 'z2' }),
      endpoint('b', 2, { zone: 'z9' }),
    ];
    expect(hintsBy(toHint(endpoints, { locality, isSource: false }))).toEqual({
      '10.97.0.1': 'z1',
      '10.98.0.1': 'z2',
      '10.98.0.2': 'z9',
    });
  });

  it('no endpoint has hints while a ready one lacks a zone: kube-proxy would ignore all of them (SL-23)', () => {
    const bare = (isReady: boolean) => ({ ...endpoint('b', 1, { isReady }), zone: undefined });
    expect(hintsBy(toHint([endpoint('a', 1), bare(true)], { locality }))).toEqual({});
    expect(why(toHint([endpoint('a', 1), bare(true)], { locality }))).toBe(
      'no endpoint has hints: 10.98.0.1 of b has no zone',
    );
    expect(hintsBy(toHint([endpoint('a', 1), bare(false)], { locality }))).toEqual({ '10.97.0.1': 'z1' });
  });
});

const endpointsArbitrary = fc
  .uniqueArray(
    fc.record({
      cluster: fc.constantFrom('a', 'b', 'c'),
      i: fc.nat(40),
      isReady: fc.boolean(),
      zone: fc.constantFrom('z1', 'z2', 'z9', undefined),
    }),
    {
      maxLength: 40,
      selector: (e) => `${e.cluster}${e.i}`,
    },
  )
  .map((all) => all.map(({ cluster, i, ...more }): EndpointToHint => ({ ...endpoint(cluster, i), ...more })));
const toHintArbitrary = fc
  .record({
    endpoints: endpointsArbitrary,
    locality: fc.constantFrom<ToHint['locality']>(
      { prefer: 'zone' },
      { prefer: 'local' },
      { prefer: 'local', minLocal: 30 },
      { prefer: 'local', minLocal: 75 },
    ),
    isSource: fc.boolean(),
  })
  .map(({ endpoints, ...more }) => toHint(endpoints, more));

describe('hints of any import', () => {
  it('hints of any import are independent of the order of its endpoints', () => {
    fc.assert(
      fc.property(toHintArbitrary, (to) => {
        expect(hintsBy({ ...to, endpoints: to.endpoints.toReversed() })).toEqual(hintsBy(to));
      }),
    );
  });

  it('hints of any import are on every ready endpoint or on none (SL-23)', () => {
    let hinted = 0;
    fc.assert(
      fc.property(toHintArbitrary, (to) => {
        const { hints } = decideLocalityHints(to);
        const ready = to.endpoints.filter((e) => e.isReady);
        const withHints = ready.filter((e) => hints.get(e.key)?.forZones?.length);
        expect([0, ready.length]).toContain(withHints.length);
        hinted += withHints.length;
      }),
    );
    expect(hinted).toBeGreaterThan(0);
  });

  it('hints of any import that prefers local endpoints change for two others at most where one becomes ready or unready', () => {
    fc.assert(
      fc.property(toHintArbitrary, fc.nat(), (to, pick) => {
        if (to.endpoints.length === 0 || to.locality.prefer === 'zone') return;
        const flipped = to.endpoints[pick % to.endpoints.length] as EndpointToHint;
        const endpoints = to.endpoints.map((e) => (e === flipped ? { ...e, isReady: !e.isReady } : e));
        const local = (of: readonly EndpointToHint[]) =>
          of.filter((e) => e.cluster === 'a' && e.isReady).length;
        // The first and the last local endpoint begin and end the spill.
        if (local(endpoints) === 0 || local(to.endpoints) === 0) return;
        const [before, after] = [hintsBy(to), hintsBy({ ...to, endpoints })];
        const changed = to.endpoints.filter((e) => e !== flipped && before[e.key] !== after[e.key]);
        expect(changed.length).toBeLessThanOrEqual(2);
      }),
    );
  });

  it('hints of any import with a share leave a cluster that has a ready endpoint at least that share, as far as there are endpoints', () => {
    fc.assert(
      fc.property(toHintArbitrary, (to) => {
        const { minLocal = 0, prefer } = to.locality;
        const ready = to.endpoints.filter((e) => e.isReady);
        const local = ready.filter((e) => e.cluster === 'a').length;
        if (prefer === 'zone' || !to.isSource || local === 0) return;
        const hints = hintsBy(to);
        const used = ready.filter((e) => hints[e.key] === 'z1,z2').length;
        expect(used).toBe(Math.max(local, Math.ceil((ready.length * minLocal) / 100)));
      }),
    );
  });
});
