import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { aPod, aService, node, pods, smallCluster } from '#test/support/small-cluster.ts';
import { shadowExplanationOf } from './shadow-explanations.ts';
import { playInShadow, type WholeVector } from './shadow-vectors.ts';

const given = [node, aService(), ...pods(2)];
const expectation = { endpoints: [], endpointSlices: [], keptSlices: [], writes: {}, events: [] };
const config = { maxEndpointsPerSlice: 100, endpointUpdatesBatchPeriodSeconds: 0 };

/** Two steps, the second with another pod; the outputs are the hub's own. */
async function written(): Promise<WholeVector> {
  const { world, pass } = await smallCluster(given);
  const outputs = (): readonly RawObject[] => [
    ...world.store.list('Endpoints'),
    ...world.store.list('EndpointSlice'),
  ];
  await pass(8);
  const first = outputs();
  world.store.apply(aPod(2));
  await pass(8);
  const steps = [
    { expect: expectation, outputs: first },
    { apply: [aPod(2)], expect: expectation, outputs: outputs() },
  ];
  return { id: 'a-1', config, given, steps };
}

it('shadow mode shows no difference from outputs that the hub would write', async () => {
  expect(await playInShadow(await written(), 'v1.37.2')).toEqual([]);
});

it('shadow mode shows outputs that miss a pod, in their step', async () => {
  const vector = await written();
  const [first, second] = vector.steps;
  const stale = { ...vector, steps: [first, { ...second, outputs: first?.outputs }] } as WholeVector;
  const differences = await playInShadow(stale, 'v1.37.2');
  expect(differences.map(({ step, service }) => `${step} ${service}`)).toEqual([
    '1 default/svc',
    '1 default/svc',
  ]);
  expect(differences[0]?.line).toContain('Endpoints: missing in the cluster: 10.1.0.3 pod=pod-2');
  expect(shadowExplanationOf('v1.31.0', stale, differences[0] as never)).toBeUndefined();
});

it('a write that the vector refuses explains differences of its own kind', async () => {
  const refused = {
    ...(await written()),
    faults: [{ verb: 'update', resource: 'endpoints', step: 1, forSeconds: 60, code: 500, reason: 'a' }],
  } as const;
  const difference = (line: string) => ({ step: 1, service: 'default/svc', line });
  expect(
    shadowExplanationOf('v1.37.2', refused, difference('Endpoints: missing in the cluster: a')),
  ).toContain('a write that the vector refuses');
  expect(
    shadowExplanationOf('v1.37.2', refused, difference('EndpointSlices: missing in the cluster: a')),
  ).toBeUndefined();
});
