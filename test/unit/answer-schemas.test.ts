/** docs/reference/schemas is generated from the types of the answers (`npm run docs`). */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { answerSchemas } from '#infra/package/answer-schemas.ts';

const folder = 'docs/reference/schemas';

// The generator parses the command's sources by a compiler of its own.
it('the schemas are those of the types: npm run docs writes them', { timeout: 120_000 }, () => {
  const written = new Map(
    readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8')]),
  );
  expect(written).toEqual(answerSchemas());
});

it('docs/commands.md names every schema', () => {
  const page = readFileSync('docs/commands.md', 'utf8');
  expect(readdirSync(folder).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
