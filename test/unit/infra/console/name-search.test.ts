/** The console's search for clusters and services by parts of their names. */
import { expect, it } from 'vitest';
import { nameSearch } from '#infra/console/name-search.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { indexNamespace } from '#shared/store/inputs/namespaces.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { aPod, aService, smallCluster } from '#test/support/small-cluster.ts';
import { service } from '#test/unit/shared/controllers/slices/fixtures.ts';

let now = 0;

async function fleet(services: { readonly [cluster: string]: readonly string[] }) {
  const table = memoryTable();
  const add = async (cluster: string, path: string): Promise<void> => {
    const [namespace = '', name = ''] = path.split('/');
    await indexNamespace({ table, cluster }, namespace);
    const projection = encodeProjection('Service', service());
    const record = {
      namespace,
      name,
      projection,
      version: versionOf(1, '5'),
      unnotifiedLabels: undefined,
      deletedAtMs: 0,
    };
    await putObject({ table, cluster }, 'Service', record, undefined);
  };
  for (const [cluster, paths] of Object.entries(services)) {
    await registerCluster(table, { id: cluster, mode: 'active' }, Date.now());
    for (const path of paths) await add(cluster, path);
  }
  const search = nameSearch(() => now);
  const names = async (text: string) =>
    (await search(table, text)).found.map(({ cluster, namespace, service }) =>
      service === undefined ? cluster : `${cluster} ${namespace}/${service}`,
    );
  return { table, add, search, names };
}

it('a name is found in every cluster by each of its words, and clusters come first', async () => {
  const { names } = await fleet({
    'prod-2': ['shop/web'],
    'prod-10': ['shop/web', 'web/api'],
    test: ['shop/cart'],
  });
  expect(await names('web')).toEqual(['prod-2 shop/web', 'prod-10 shop/web', 'prod-10 web/api']);
  expect(await names('SHOP prod web')).toEqual(['prod-2 shop/web', 'prod-10 shop/web']);
  expect(await names('prod')).toEqual([
    'prod-2',
    'prod-10',
    'prod-2 shop/web',
    'prod-10 shop/web',
    'prod-10 web/api',
  ]);
  expect(await names('shop/c')).toEqual(['test shop/cart']);
  expect(await names('nothing')).toEqual([]);
  expect(await names('  ')).toEqual([]);
});

it('the number of names beyond the first twenty is returned', async () => {
  const { search, table } = await fleet({ a: Array.from({ length: 25 }, (_, i) => `ns/web-${i}`) });
  const { found, more } = await search(table, 'web');
  expect([found.length, more]).toEqual([20, 5]);
});

it('new names are found after a minute', async () => {
  const { names, add } = await fleet({ a: ['ns/web'] });
  expect(await names('ns')).toEqual(['a ns/web']);
  await add('a', 'ns/late');
  expect(await names('late')).toEqual([]);
  now += 60_000;
  expect(await names('late')).toEqual(['a ns/late']);
});

it('a failed read is not kept', async () => {
  const { search, table } = await fleet({ a: ['ns/web'] });
  const refused = {
    ...table,
    query: () => Promise.reject(new Error('throttled')),
  } as unknown as typeof table;
  await expect(search(refused, 'web')).rejects.toThrow('throttled');
  expect((await search(table, 'web')).found).toHaveLength(1);
});

it('a service is found by a pod that it selects, by name and by IP, where no name is found', async () => {
  const { world, pass } = await smallCluster([
    aService(),
    aService({ selector: { app: 'b' } }, 'other'),
    aPod(0),
    aPod(1),
  ]);
  await pass(8);
  const search = nameSearch(() => now);
  const found = async (text: string) => (await search(world.table, text)).found;
  const pod = { cluster: 'c', namespace: 'default', service: 'svc', pod: 'pod-1 10.1.0.2 fd00::2' };
  expect(await found('pod-1')).toEqual([pod]);
  expect(await found('10.1.0.2')).toEqual([pod]);
  expect(await found('c FD00::2')).toEqual([pod]);
  expect(await found('other')).toEqual([{ cluster: 'c', namespace: 'default', service: 'other' }]);
  expect(await found('10')).toEqual([]);
});
