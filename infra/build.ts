/** `npm run build`: bundles of the relay and the functions into dist/, and their sizes. Deployment bundles the functions by itself, with the same options. */
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

export interface Bundle {
  readonly name: string;
  readonly entry: string;
  /** Below dist/. */
  readonly outfile: string;
}

export const bundles: readonly Bundle[] = [
  { name: 'relay', entry: 'functions/relay/relay.main.ts', outfile: 'relay/relay.mjs' },
  ...['ingest', 'sync', 'sweep'].map((name) => ({ name, entry: `functions/${name}/${name}.handler.ts`, outfile: `${name}/index.mjs` })),
];

/** Upper limits in bytes, minified: a dependency that slips in shows here, and Lambda's cold start grows with it. */
export const budgets: { readonly [name: string]: number } = { relay: 600_000, ingest: 900_000, sync: 900_000, sweep: 900_000 };

export async function bundle({ entry }: Bundle): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minify: true,
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'warning',
    // Some of the SDK's dependencies are CommonJS and call require.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return (outputFiles[0] as { readonly contents: Uint8Array }).contents;
}

if (import.meta.main) {
  await rm('dist', { recursive: true, force: true });
  for (const each of bundles.filter((b) => existsSync(b.entry))) {
    const contents = await bundle(each);
    await mkdir(`dist/${each.name}`, { recursive: true });
    await writeFile(`dist/${each.outfile}`, contents);
    console.log(`dist/${each.outfile}`.padEnd(24), kb(contents.length), `(${kb(gzipSync(contents).length)} gzipped)`);
  }
}

function kb(bytes: number): string {
  return `${Math.ceil(bytes / 1000)} KB`.padStart(7);
}
