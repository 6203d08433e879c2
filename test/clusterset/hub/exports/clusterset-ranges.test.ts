/**
 * Addresses outside of the ranges that their cluster may export: the conditions of import and export say so,
 * and a metric counts them.
 */
import { expect, it } from 'vitest';
import { explain } from '#infra/cli/ask/explain-service.ts';
import { conditionsOf, exporter, imported, importer, pod } from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const podCidrs = ['10.2.0.0/16'];
const leftOut = 'addresses of b are left out: they are outside of the ranges of exports.podCidrs';

it('an import without an address, because a range was forgotten, is told in the conditions of every import and of the export', async () => {
  const world = await SetWorld.start({
    a: importer(),
    c: importer(),
    b: exporter('100.64.0', { exports: { namespaces: ['shop'], podCidrs } }),
  });
  await world.pass(120);
  expect(imported(world, 'a')).toEqual([]);
  expect(conditionsOf(world, 'b')[1]).toBe(`Ready True Exported: clusters "a", "c": ${leftOut}`);
  for (const id of ['a', 'c'])
    expect(conditionsOf(world, id, 'ServiceImport')).toEqual([`Ready True Ready: ${leftOut}`]);
  expect(world.metrics.get('AddressesOutside')).toBeGreaterThan(0);
  const { summary } = await explain(
    world.table,
    { cluster: 'b', namespace: 'shop', name: 'web' },
    world.nowMs,
  );
  expect(summary).toMatch(
    /Exported, imported by a and c; none of its pods is an address there, as web-1: .*podCidrs/,
  );
});

it('a single pod outside of the ranges is told too, until it is gone', async () => {
  const stray = pod('stray', '100.64.0.1');
  const world = await SetWorld.start({
    a: importer(),
    b: exporter('10.2.0', { exports: { namespaces: ['shop'], podCidrs }, given: [stray] }),
  });
  await world.pass(120);
  expect(imported(world, 'a')).toEqual(['b 10.2.0.1', 'b 10.2.0.2']);
  expect(conditionsOf(world, 'b')[1]).toBe(`Ready True Exported: cluster "a": ${leftOut}`);
  world.of('b').store.remove('Pod', 'shop', 'stray');
  await world.pass(60);
  expect(conditionsOf(world, 'b')[1]).toBe('Ready True Exported: ');
});
