/**
 * Records that the clusters of a set share, one version apart (CONTRIBUTING.md): end to end, with the real
 * ingest, sync and sweep.
 */
import { describe, expect, it } from 'vitest';
import { mergeExports } from '#shared/clusterset/exports/merge.ts';
import type { ExportedService } from '#shared/clusterset/exports/precedence.ts';
import { labelSourceCluster } from '#shared/kube/names.ts';
import { decodeClustersetObject, encodeClustersetObject } from '#shared/kube/projection/mcs-projection.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Item } from '#shared/store/table.ts';
import { exporter, importer, pod } from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const seen = (world: SetWorld): readonly string[] =>
  world
    .of('a')
    .store.list('EndpointSlice', 'shop')
    .flatMap((s) =>
      (s.endpoints ?? []).map((e) => `${s.metadata.labels?.[labelSourceCluster]} ${e.addresses.join()}`),
    )
    .sort();
const both = ['b 10.2.0.1', 'b 10.2.0.2', 'c 10.3.0.1', 'c 10.3.0.2'];

async function start(more = {}): Promise<SetWorld> {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0', more), c: exporter('10.3.0') });
  await world.pass(70);
  expect(seen(world)).toEqual(both);
  return world;
}

/** With a field of the future in the JSON of the attribute. */
const grown = (item: Item, attribute: string): Item =>
  typeof item[attribute] === 'string' && item[attribute].startsWith('{')
    ? {
        ...item,
        [attribute]: JSON.stringify({
          fieldOfTheFuture: { nested: [1] },
          ...(JSON.parse(item[attribute]) as object),
        }),
      }
    : item;

describe('a set, one version apart', () => {
  it.each(['silent', 'evicted'])(
    'a source that a newer version has recorded as %s returns with its heartbeats, with any further fields',
    async (state) => {
      const world = await start(state === 'evicted' ? { evictAfterSeconds: 60 } : {});
      const b = world.of('b');
      Object.assign(b, { isBeating: false, apiAnswers: false });
      await world.pass(240);
      const meta = (await world.table.get(metaKey('b'))) as Item;
      expect(JSON.parse(meta['source'] as string)).toMatchObject({ state });
      await world.table.put(grown(meta, 'source'));
      await world.pass(61);
      b.store.remove('Pod', 'shop', 'web-1');
      Object.assign(b, { isBeating: true, apiAnswers: true });
      await b.sendHeartbeat(world.nowMs);
      await b.sendList('Pod', 'again');
      await world.pass(130);
      expect(seen(world)).toEqual(both.slice(1));
      expect(await world.table.get(metaKey('b'))).not.toHaveProperty('source');
    },
  );

  it('entries of a set by a newer version are read for their known fields', async () => {
    const world = await start();
    for (const member of world.members.values()) member.writes.length = 0;
    const future = world.table.dump().flatMap((item): readonly Item[] => {
      if (!item.pk.startsWith('SET#')) return [item];
      return [
        { ...grown(item, 'f'), attributeOfTheFuture: 1 },
        { pk: item.pk, sk: item.sk.replace(/#.*/, '#X#b'), f: 'of the future' },
      ];
    });
    expect(future.filter((item) => item['attributeOfTheFuture'] === 1).length).toBeGreaterThanOrEqual(3);
    world.table.restore(future);
    world.of('b').store.apply(pod('web-3', '10.2.0.3'));
    await world.pass(60);
    expect(seen(world)).toEqual([...both.slice(0, 2), 'b 10.2.0.3', ...both.slice(2)]);
    for (const id of ['b', 'c']) expect(world.of(id).writes).toEqual([]);
    expect(new Set(world.of('a').writes)).toEqual(new Set(['replace EndpointSlice']));
  });

  it('a ServiceExport of a newer relay is read without unknown fields', () => {
    const metadata = {
      namespace: 'shop',
      name: 'web',
      uid: 'u',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 1,
    };
    const sent = JSON.parse(
      encodeClustersetObject('ServiceExport', { metadata, spec: {} }),
    ) as readonly unknown[];
    const read = decodeClustersetObject('ServiceExport', 'shop', 'web', sent);
    expect(read.metadata.name).toBe('web');
    expect(
      decodeClustersetObject('ServiceExport', 'shop', 'web', [...sent, { fieldOfTheFuture: 1 }]),
    ).toEqual(read);
  });
});

it('an export that prefers a locality of the next version prefers no endpoint', () => {
  const next = {
    cluster: 'b',
    uid: 'u',
    createdAt: undefined,
    labels: {},
    annotations: {},
    spec: {},
    locality: { prefer: 'rack' },
  };
  expect(mergeExports([next as unknown as ExportedService])).not.toHaveProperty('locality');
});
