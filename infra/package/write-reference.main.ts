/** `npm run docs`: writes the generated files of docs/reference. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { answerSchemas } from './answer-schemas.ts';

const schemas = 'docs/reference/schemas';
await rm(schemas, { recursive: true, force: true });
await mkdir(schemas, { recursive: true });
for (const [name, text] of answerSchemas()) await writeFile(`${schemas}/${name}`, text);
