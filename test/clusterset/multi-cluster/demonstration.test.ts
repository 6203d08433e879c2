/** `npm start -- --clusters 3`: the demonstration of services across clusters, on embedded clusters. */
import { afterAll, expect, it } from 'vitest';
import { startLocalRun } from '#test/support/local-run.ts';

const run = startLocalRun(['--clusters', '3']);
afterAll(() => run.stop());

it('three embedded clusters export a service each, and every one imports it from all of them', async () => {
  const families = '10\\.96\\S+, fd00:\\S+';
  const sources = '\\d of demo-1, \\d of demo-2, \\d of demo-3';
  for (const id of ['demo-1', 'demo-2', 'demo-3'])
    await run.line(
      new RegExp(`^import: shop/catalog in ${id} \\(${families}, derived-\\w{10}\\): ${sources}$`),
      120_000,
    );
  expect(await run.stop()).toBe(0);
  expect(run.lines.join('\n')).not.toMatch(/error/i);
});
