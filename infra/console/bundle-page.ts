import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

/** Returns the script and the style of the console's page, by name. */
export async function bundlePage(): Promise<ReadonlyMap<string, string>> {
  const source = (name: string): string => fileURLToPath(new URL(`./page/${name}`, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [
      { in: source('console-app.ts'), out: 'app' },
      { in: source('style.css'), out: 'app' },
    ],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    write: false,
    outdir: '/',
    logLevel: 'silent',
  });
  // esbuild's process would keep this one alive.
  await stop();
  return new Map(outputFiles.map((f) => [f.path.split('/').at(-1) as string, f.text]));
}
