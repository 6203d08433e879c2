/**
 * `npm pack` runs this before it packs: everything that the package has besides its documents, into dist/.
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { grafanaDashboards } from '#infra/aws/monitoring/grafana.ts';
import { buildBundles } from '#infra/build.ts';
import { buildLibrary } from './build-library.ts';
import { buildConsole, buildPrograms } from './build-programs.ts';
import { billOfMaterials, bundledPackages, noticesOf, readLock } from './bundled-packages.ts';

// Standard output is npm's.
const metafiles = [...(await buildBundles(console.error)), await buildPrograms(), await buildLibrary()];
await buildConsole();
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const packages = bundledPackages(metafiles, readLock());
await writeFile('dist/third-party-licenses.txt', noticesOf(packages));
await mkdir('dist/grafana', { recursive: true });
for (const { name: file, dashboard } of grafanaDashboards())
  await writeFile(`dist/grafana/${file}`, `${JSON.stringify(dashboard, null, 2)}\n`);
await writeFile(
  'dist/sbom.cdx.json',
  `${JSON.stringify(billOfMaterials({ name, version, type: 'application' }, packages), null, 2)}\n`,
);
