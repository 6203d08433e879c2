/**
 * Where this program is installed: a checkout, whose sources Node runs as they are, or the package, which has
 * the same files as JavaScript below dist/. Found by the nearest package.json that is ours, as a bundle may
 * put this module at any depth.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';

export const packageName = 'fleet-endpoints';

/** Does Node run the sources? */
export const isCheckout = import.meta.url.endsWith('.ts');

export const installation = ((): { readonly root: string; readonly version: string } => {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const found = manifestIn(folder);
    if (found?.name === packageName) return { root: folder, version: found.version ?? '' };
    if (folder === parse(folder).root)
      throw new Error(`${import.meta.url} is in no installation of ${packageName}`);
  }
})();

function manifestIn(folder: string): { readonly name?: string; readonly version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** A program of this installation, by the path of its source. */
export const programFile = (source: string): string =>
  isCheckout
    ? join(installation.root, source)
    : join(installation.root, 'dist', 'programs', source.replace(/\.ts$/, '.js'));

/** Returns the path of a file that `npm run build` makes, by its path below dist/. */
export const builtFile = (path: string): string => join(installation.root, 'dist', path);
