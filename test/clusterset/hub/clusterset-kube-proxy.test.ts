/**
 * Slices for kube-proxy's own code (G 35): the writes of runs to cluster a, and the endpoints that its nodes
 * should use. The Go test of test/cluster/control-plane/kubeproxy reads the file and calls kube-proxy. This
 * test compares the file with the runs, and writes it again with `-u`.
 */
import { expect, it } from 'vitest';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { labelSourceCluster } from '#shared/kube/names.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import { type ProxyCase, proxyCases, type Used } from '#test/clusterset/support/proxy-cases.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const sourceOf = ({ metadata }: EndpointSlice): string => metadata.labels?.[labelSourceCluster] ?? '';
const slicesIn = (world: SetWorld): readonly EndpointSlice[] =>
  world.of('a').store.list('EndpointSlice', 'shop');

/** Removes uids and versions, which kube-proxy ignores. */
const bare = <O extends EndpointSlice | Service>({ metadata: { namespace, name, labels }, ...rest }: O) => ({
  ...rest,
  metadata: { namespace, name, labels },
});

async function recorded({ name, members, change, notYetWritten, uses }: ProxyCase) {
  const world = await SetWorld.start(members);
  await world.pass(30);
  const before = slicesIn(world);
  await change?.(world);
  await world.pass(60);
  const [old, now] = [before, slicesIn(world)].map((slices) =>
    slices.filter((s) => (sourceOf(s) === notYetWritten) === (slices === before)),
  );
  const slices = [...(notYetWritten === undefined ? [] : (old ?? [])), ...(now ?? [])];
  const service = world.of('a').store.get('Service', 'shop', derivedName('shop', 'web'));
  const byPort = (used: Used) => (Array.isArray(used) ? { http: used } : used);
  return {
    name,
    nodes: uses.map(([node, zone, used]) => ({ name: node, zone, uses: byPort(used) })),
    service: bare(service),
    slices: slices
      .toSorted((x, y) => (sourceOf(x) + x.metadata.name < sourceOf(y) + y.metadata.name ? -1 : 1))
      .map(bare),
  };
}

it('the slices in kube-proxy’s tests are those that runs of imports write', async () => {
  const cases = [];
  for (const each of proxyCases) cases.push(await recorded(each));
  const lines = cases.map((each) => `${JSON.stringify(each)}\n`);
  await expect(lines.join('')).toMatchFileSnapshot('../../cluster/control-plane/kubeproxy/cases.jsonl');
});
