import { describe, expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { byFamily } from './families.ts';
import { optedIn } from './opt-in.ts';
import { besideBuiltIn, play } from './play.ts';
import { applyRules } from './rules.ts';
import type { Vector } from './vector.ts';

describe('services that opt in get the slices that the upstream controller of v1.37.2 wrote for that selector', () => {
  it.each([...byFamily()])('%s', async (_, vectors) => {
    for (const asRecorded of vectors) {
      const { vector } = optedIn(asRecorded);
      if (!vector) continue;
      const { left } = applyRules(vector, await play(vector, besideBuiltIn));
      expect.soft(left, `${vector.id}: npm run conformance -- --opt-in --only ${vector.id}`).toEqual([]);
    }
  });
});

const service = (name: string, selector: object | undefined, spec: object = {}): RawObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'ns', name },
  spec: { ...(selector && { selector }), ...spec },
});
const nothing = { endpoints: [], endpointSlices: [], keptSlices: [], writes: {}, events: [] };
const of = (...given: readonly RawObject[]): Vector => ({
  id: 'a',
  config: { maxEndpointsPerSlice: 100, endpointUpdatesBatchPeriodSeconds: 0 },
  given,
  steps: [{ expect: nothing }],
});

describe('a vector of services that opt in', () => {
  it('a service with an annotation instead of its selector gets the same endpoints', () => {
    const { vector } = optedIn(
      of(service('web', { app: 'a', tier: '' }, { type: 'ClusterIP' }), service('other', undefined)),
    );
    expect(vector?.given).toEqual([
      {
        ...service('web', undefined, { type: 'ClusterIP' }),
        metadata: { namespace: 'ns', name: 'web', annotations: { [annotationSelector]: 'app=a,tier=' } },
      },
      service('other', undefined),
    ]);
  });

  it('a headless service keeps its one family', () => {
    const { vector } = optedIn(of(service('web', { app: 'a' }, { clusterIP: 'None' })));
    expect(vector?.given[0]?.spec).toEqual({ clusterIP: 'None', ipFamilyPolicy: 'SingleStack' });
  });

  it('a vector without a service whose selector fits into the annotation is not played', () => {
    expect(optedIn(of(service('web', undefined), service('empty', {}))).skipped).toBe(
      'no service has a selector',
    );
    const pairs = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`key-${i}`, 'a']));
    expect(optedIn(of(service('web', pairs))).skipped).toBe('a selector is more than the annotation can say');
  });
});
