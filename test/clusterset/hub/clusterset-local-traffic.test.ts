/**
 * internalTrafficPolicy Local: kube-proxy uses endpoints whose nodeName is its own node's, so an import names
 * the nodes of its own cluster alone.
 */
import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { labelSourceCluster } from '#shared/kube/names.ts';
import {
  conditionsOf,
  importedSlices,
  importer,
  namespace,
  object,
  open,
  pod,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const exporting = (ip: string, policy: string, createdAt: string) => ({
  ...open,
  imports: 'active' as const,
  exports: { namespaces: ['shop'] },
  given: [
    ...[
      namespace(),
      object('Node', { namespace: undefined, name: 'node-a', uid: 'n' }),
      service({ internalTrafficPolicy: policy }),
    ],
    ...[
      { ...pod('web-1', ip), spec: { nodeName: 'node-a', containers: [] } } as RawObject,
      serviceExport({ creationTimestamp: createdAt }),
    ],
  ],
});
const nodesIn = (world: SetWorld, id: string): readonly string[] =>
  importedSlices(world, id)
    .flatMap((s) =>
      (s.endpoints ?? []).map((e) => `${s.metadata.labels?.[labelSourceCluster]} ${e.nodeName}`),
    )
    .sort();

async function started(policy: string): Promise<SetWorld> {
  const b = exporting('10.2.0.1', policy, '2026-01-01T00:00:00Z');
  const world = await SetWorld.start({
    a: importer(),
    b,
    c: exporting('10.3.0.1', 'Local', '2026-01-01T01:00:00Z'),
  });
  await world.pass(120);
  return world;
}

it('endpoints of an import name nodes in the cluster of their pods, and in no other', async () => {
  const world = await started('Local');
  expect(nodesIn(world, 'a')).toEqual(['b undefined', 'c undefined']);
  expect(nodesIn(world, 'b')).toEqual(['b node-a', 'c undefined']);
  expect(nodesIn(world, 'c')).toEqual(['b undefined', 'c node-a']);
  const told =
    'internalTrafficPolicy is Local by the export of cluster "b": a node uses only pods on itself, so no cluster reaches the pods of another one.';
  for (const id of ['b', 'c']) expect(conditionsOf(world, id)[0]).toBe(`Valid True Valid: ${told}`);
});

it('endpoints of an import name no node if the export with precedence lets nodes use all pods', async () => {
  const world = await started('Cluster');
  expect(nodesIn(world, 'b')).toEqual(['b undefined', 'c undefined']);
  expect(conditionsOf(world, 'b')[0]).toBe('Valid True Valid: ');
});
