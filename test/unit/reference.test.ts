/** docs/reference is generated from the code that it describes (`npm run docs`). */
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { limitsPage } from '#infra/package/reference/limits-page.ts';
import { referenceFiles, referenceFolder } from '#infra/package/reference/reference-pages.ts';
import { defaultLimits } from '#shared/contract/limits.ts';

// The generator of schemas parses the command's sources by a compiler of its own.
it('the files are those of the code: npm run docs writes them', { timeout: 120_000 }, () => {
  const paths = globSync('**/*.{md,json}', { cwd: referenceFolder }).sort();
  const written = paths.map((path) => [path, readFileSync(`${referenceFolder}/${path}`, 'utf8')]);
  expect(Object.fromEntries(written)).toEqual(Object.fromEntries(referenceFiles()));
});

it('every limit has a row with its meaning', () => {
  const rows = limitsPage().match(/^\| `\w+(\.\w+)?` \|.* [A-Z][^|]+\. \|$/gm) ?? [];
  const { requeue, ...stages } = defaultLimits;
  const names = Object.values(stages).flatMap((limits) => Object.keys(limits));
  expect(rows).toHaveLength(names.length + Object.keys(requeue).length);
});

it('every limit that a page names exists', () => {
  // Keys of clusters.yaml begin with `relay.` too.
  const stages = Object.keys(defaultLimits)
    .filter((stage) => stage !== 'relay')
    .join('|');
  const named = globSync('{docs/*/*,{shared,functions}/**/*}.md').flatMap((path) => [
    ...readFileSync(path, 'utf8').matchAll(new RegExp(`\`(${stages})\\.(\\w+)\``, 'g')),
  ]);
  expect(named.length).toBeGreaterThan(20);
  const all: { readonly [stage: string]: object } = { ...defaultLimits };
  expect(
    named.filter(([, stage = '', name = '']) => !(name in (all[stage] ?? {}))).map(([text]) => text),
  ).toEqual([]);
});
