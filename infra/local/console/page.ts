/** The console's page: bundled at the first request, so that a run without a visitor does not wait for it. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import type { Routes } from './server.ts';

const source = (name: string): string => fileURLToPath(new URL(`./page/${name}`, import.meta.url));

export function pageRoutes(): Routes {
  let bundle: Promise<ReadonlyMap<string, string>> | undefined;
  const bundled = (name: string, type: string) => async () => {
    bundle ??= bundlePage();
    bundle.catch(() => (bundle = undefined));
    return { type, body: (await bundle).get(name) ?? '' };
  };
  const file = (name: string, type: string) => async () => ({ type, body: await readFile(source(name), 'utf8') });
  return {
    '/': file('index.html', 'text/html; charset=utf-8'),
    '/favicon.svg': file('favicon.svg', 'image/svg+xml'),
    '/app.js': bundled('app.js', 'text/javascript; charset=utf-8'),
    '/app.css': bundled('app.css', 'text/css; charset=utf-8'),
  };
}

async function bundlePage(): Promise<ReadonlyMap<string, string>> {
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
  // Its process is no longer needed.
  await stop();
  return new Map(outputFiles.map((f) => [f.path.split('/').at(-1) as string, f.text]));
}
