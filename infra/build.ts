/**
 * `npm run build`: bundles of the relay and the functions into dist/, with their sizes. The package has the
 * very same, and a deployment uploads them.
 */
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BuildResult, build, type Metafile } from 'esbuild';
import { type Bundle, bundleOptions, bundles } from './bundle-options.ts';

/**
 * Upper limits in bytes, minified: a dependency that slips in shows here, and Lambda's cold start grows with
 * it.
 */
export const budgets: { readonly [name: string]: number } = {
  relay: 600_000,
  worker: 900_000,
  sweep: 900_000,
  register: 600_000,
};

interface Bundled {
  readonly code: Uint8Array;
  /** The source map of a function, with which a stack trace in its logs is read. */
  readonly map: Uint8Array | undefined;
  readonly metafile: Metafile;
}

export async function bundle(each: Bundle): Promise<Bundled> {
  const options = bundleOptions(each);
  const { outputFiles, metafile }: BuildResult<{ write: false; metafile: true }> = await build({
    ...options,
    entryPoints: [...options.entryPoints],
    mainFields: [...options.mainFields],
    outfile: `dist/${each.outfile}`,
    write: false,
    metafile: true,
  });
  const output = (end: string) => outputFiles.find((f) => f.path.endsWith(end))?.contents;
  return { code: output('.mjs') as Uint8Array, map: output('.map'), metafile };
}

/** All bundles into dist/. */
export async function buildBundles(say: (line: string) => void): Promise<readonly Metafile[]> {
  const metafiles: Metafile[] = [];
  for (const each of bundles) {
    const { code, map, metafile } = await bundle(each);
    const file = `dist/${each.outfile}`;
    await rm(dirname(file), { recursive: true, force: true });
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
    if (map) await writeFile(`${file}.map`, map);
    metafiles.push(metafile);
    say(`${file.padEnd(32)} ${kb(code.length)} (${kb(gzipSync(code).length)} gzipped)`);
  }
  // `docker build dist/relay` needs nothing else.
  await cp('functions/relay/Dockerfile', 'dist/relay/Dockerfile');
  return metafiles;
}

const kb = (bytes: number): string => `${Math.ceil(bytes / 1000)} KB`.padStart(7);

if (import.meta.main) await buildBundles(console.log);
