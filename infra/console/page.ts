/**
 * The console's page. A package contains the built page. A checkout bundles it at the first request, so a run
 * without a visitor does not wait for it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { builtFile, installation, isCheckout } from '#infra/installation.ts';
import type { Routes } from './server.ts';

const folder = isCheckout ? join(installation.root, 'infra/console/page') : builtFile('console');

export function pageRoutes(): Routes {
  let bundle: Promise<ReadonlyMap<string, string>> | undefined;
  const file = (name: string, type: string) => async () => ({
    type,
    body: await readFile(join(folder, name), 'utf8'),
  });
  const bundled = (name: string, type: string) => async () => {
    if (!isCheckout) return file(name, type)();
    bundle ??= import('./bundle-page.ts').then(({ bundlePage }) => bundlePage());
    bundle.catch(() => (bundle = undefined));
    return { type, body: (await bundle).get(name) ?? '' };
  };
  return {
    '/': file('index.html', 'text/html; charset=utf-8'),
    '/favicon.svg': file('favicon.svg', 'image/svg+xml'),
    '/app.js': bundled('app.js', 'text/javascript; charset=utf-8'),
    '/app.css': bundled('app.css', 'text/css; charset=utf-8'),
  };
}
