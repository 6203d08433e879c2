import { expect, it } from 'vitest';
import { nodeChange } from '#shared/controllers/membership/node-change.ts';
import type { Node } from '#shared/kube/types.ts';

const node = (zone: string | undefined, ready: string | undefined, cpu = '4'): Node => ({
  metadata: { name: 'n', ...(zone !== undefined && { labels: { 'topology.kubernetes.io/zone': zone } }) },
  status: { allocatable: { cpu }, conditions: ready ? [{ type: 'Ready', status: ready }] : [] },
});

it('a node that came or went is a change', () => {
  expect(nodeChange(undefined, node('a', 'True'))).toBe(true);
  expect(nodeChange(node('a', 'True'), undefined)).toBe(true);
  expect(nodeChange(undefined, undefined)).toBe(false);
});

it.each([
  ['readiness lost', node('a', 'True'), node('a', 'Unknown'), true],
  ['readiness gained', node('a', undefined), node('a', 'True'), true],
  ['another zone', node('a', 'True'), node('b', 'True'), true],
  ['zone given', node(undefined, 'True'), node('b', 'True'), true],
  ['empty zone given', node(undefined, 'True'), node('', 'True'), false],
  ['not ready in another way', node('a', 'False'), node('a', 'Unknown'), false],
  ['other CPU', node('a', 'True', '4'), node('a', 'True', '8'), false],
])('%s: %#', (_, old, next, expected) => {
  expect(nodeChange(old, next)).toBe(expected);
});
