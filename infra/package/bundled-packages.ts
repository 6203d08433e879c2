/** Which packages of others are in what was built: their licences, and a bill of materials. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** The texts of its licence files. */
  readonly texts: readonly string[];
  /** Hash of the registry's archive, from the lock file. */
  readonly integrity: string | undefined;
}

export interface LockFile {
  readonly packages: { readonly [path: string]: { readonly version?: string; readonly integrity?: string } };
}

/** By name and version. Only files that came into an output count, so what was shaken off is not listed. */
export function bundledPackages(metafiles: readonly Metafile[], lock: LockFile): readonly BundledPackage[] {
  const used = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []))),
  );
  const folders = new Set(used.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  return [...folders].sort().map((folder) => {
    const { name, version, license = 'UNKNOWN' } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
    return {
      name,
      version,
      license,
      texts: files.map((f) => readFileSync(join(folder, f), 'utf8').trim()),
      integrity: lock.packages[folder]?.integrity,
    };
  });
}

export const readLock = (): LockFile => JSON.parse(readFileSync('package-lock.json', 'utf8'));

export function noticesOf(packages: readonly BundledPackage[]): string {
  const parts = packages.map(({ name, version, license, texts }) => [`${name} ${version} (${license})`, ...texts].join('\n\n'));
  return `The JavaScript of this package contains these packages of others, under their own licences.\n\n${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** CycloneDX 1.6, without a time or a serial number: the same sources give the same file. */
export function billOfMaterials(name: string, version: string, packages: readonly BundledPackage[]): object {
  const purl = (n: string, v: string): string => `pkg:npm/${n.replace('@', '%40')}@${v}`;
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': purl(name, version), name, version, purl: purl(name, version) } },
    components: packages.map((p) => ({
      type: 'library',
      'bom-ref': purl(p.name, p.version),
      name: p.name,
      version: p.version,
      purl: purl(p.name, p.version),
      licenses: [/\s/.test(p.license) ? { expression: p.license } : { license: { id: p.license } }],
      ...(p.integrity && { hashes: [{ alg: 'SHA-512', content: Buffer.from(p.integrity.replace(/^sha512-/, ''), 'base64').toString('hex') }] }),
    })),
  };
}
