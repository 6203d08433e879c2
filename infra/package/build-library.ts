/**
 * The constructs of the package: CommonJS, as the CDK is, so that apps of either kind load them; with the
 * functions' code beside them in dist/functions.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { build, type Metafile } from 'esbuild';
import { configSchema } from '#infra/config/schema-text.ts';

const out = 'dist/constructs';
const entry = 'infra/package/index';

export async function buildLibrary(): Promise<Metafile> {
  await rm(out, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: [`${entry}.ts`],
    outfile: `${out}/index.js`,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    keepNames: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    external: ['aws-cdk-lib', 'constructs', 'esbuild'],
    define: { 'import.meta.url': 'importMetaUrl' },
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  });
  await writeFile(`${out}/package.json`, '{ "type": "commonjs" }\n');
  await writeFile('dist/clusters.schema.json', `${JSON.stringify(configSchema(), null, 2)}\n`);
  await cp('docs/reference/schemas', 'dist/schemas', { recursive: true });
  await writeTypes();
  return metafile;
}

/** Type declarations of the entry's exports, with paths instead of this project's aliases. */
async function writeTypes(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-types-'));
  const config = join(folder, 'tsconfig.json');
  const root = process.cwd();
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir: join(folder, 'types'),
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  await writeFile(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions,
      files: [join(root, `${entry}.ts`)],
      include: [],
      exclude: [],
    }),
  );
  await promisify(execFile)('node_modules/.bin/tsc', ['-p', config]);
  const wanted = [`${entry}.d.ts`];
  for (const path of wanted) {
    const text = await readFile(join(folder, 'types', path), 'utf8');
    const written = text.replace(/(from |import\()(['"])([#.][^'"]+)\.ts\2/g, (_, word, quote, from) => {
      const target = from.startsWith('#') ? from.slice(1) : join(dirname(path), from);
      if (!wanted.includes(`${target}.d.ts`)) wanted.push(`${target}.d.ts`);
      const there = relative(dirname(path), target);
      return `${word}${quote}${there.startsWith('.') ? there : `./${there}`}.js${quote}`;
    });
    await mkdir(dirname(join(out, 'types', path)), { recursive: true });
    await writeFile(join(out, 'types', path), written);
  }
  await rm(folder, { recursive: true });
}
