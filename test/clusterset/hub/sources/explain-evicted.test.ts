/** What `explain` says of a source that is evicted, in the importer and in the source itself. */
import { expect, it } from 'vitest';
import { explain } from '#infra/cli/ask/explain-service.ts';
import { exporter, importer } from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

it('an evicted source is in no count of an import, and its own export says so', async () => {
  const policy = { evictAfterSeconds: 60 } as const;
  const world = await SetWorld.start({
    ...{ a: importer(policy), b: exporter('10.2.0', policy), c: exporter('10.3.0', policy) },
  });
  await world.pass(60);
  world.of('b').isBeating = false;
  world.of('b').apiAnswers = false;
  await world.pass(900);
  const summary = async (cluster: string): Promise<string> =>
    (await explain(world.table, { cluster, namespace: 'shop', name: 'web' }, world.nowMs)).summary;
  expect(await summary('a')).toMatch(/Imported: 2 of 2 addresses of c are ready; b is evicted/);
  expect(await summary('b')).toMatch(/Exported, and taken out of every import; it is evicted/);
});
