/** `npm run docs`: writes docs/reference. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { referenceFiles, referenceFolder } from './reference/reference-pages.ts';

const files = referenceFiles();
await rm(referenceFolder, { recursive: true, force: true });
for (const [path, text] of files) {
  await mkdir(dirname(`${referenceFolder}/${path}`), { recursive: true });
  await writeFile(`${referenceFolder}/${path}`, text);
}
