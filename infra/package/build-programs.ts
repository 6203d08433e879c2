/**
 * The programs of the package: the command and the processes of a local run, bundled as JavaScript. Only a
 * local run needs another package. Dependencies would be 100 MB for each user (AWS SDK, Kubernetes client,
 * servers). Users' scanners therefore need dist/sbom.cdx.json.
 */
import { globSync } from 'node:fs';
import { chmod, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { build, type Metafile } from 'esbuild';
import { bundlePage } from '#infra/console/bundle-page.ts';

const out = 'dist/programs';
/** Packages that stay packages, for their native code. */
export const notBundled: readonly string[] = ['dynalite'];

export const commandFile = `${out}/infra/cli/command/fleet-endpoints.main.js`;
const pluginFile = `${out}/infra/cli/command/kubectl-endpoints.main.js`;

export async function buildPrograms(): Promise<Metafile> {
  await rm(out, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: [
      'infra/cli/command/fleet-endpoints.main.ts',
      'infra/cli/command/kubectl-endpoints.main.ts',
      'functions/relay/relay.main.ts',
      ...globSync('infra/local/**/*.main.ts'),
    ],
    outdir: out,
    outbase: '.',
    bundle: true,
    // Shared modules are emitted once.
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    inject: ['infra/package/node-20.ts'],
    minify: true,
    keepNames: true,
    mainFields: ['module', 'main'],
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    external: [...notBundled, 'esbuild'],
    banner: {
      js: "import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);",
    },
  });
  for (const file of [commandFile, pluginFile]) await chmod(file, 0o755);
  return metafile;
}

/** The console's page, ready to be served. */
export async function buildConsole(): Promise<void> {
  await rm('dist/console', { recursive: true, force: true });
  await mkdir('dist/console', { recursive: true });
  for (const [name, text] of await bundlePage()) await writeFile(`dist/console/${name}`, text);
  for (const name of ['index.html', 'favicon.svg'])
    await cp(`infra/console/page/${name}`, `dist/console/${name}`);
}
