/** Which packages of others are in what was built: their licences, and a bill of materials. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { integrityDigest, type Material } from './provenance.ts';

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
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    ),
  );
  const folders = new Set(
    used.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  );
  return [...folders].sort().map((folder) => {
    const {
      name,
      version,
      license = 'UNKNOWN',
    } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
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
  const parts = packages.map(({ name, version, license, texts }) =>
    [`${name} ${version} (${license})`, ...texts].join('\n\n'),
  );
  return `The JavaScript of this package contains these packages of others, under their own licences.\n\n${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** The package, or the relay's image. */
export interface BillSubject {
  readonly name: string;
  readonly version: string;
  readonly type: 'application' | 'container';
}

/**
 * CycloneDX 1.6, without a time or a serial number: the same sources give the same file. `materials`: what is
 * inside besides bundled packages.
 */
export function billOfMaterials(
  subject: BillSubject,
  packages: readonly BundledPackage[],
  materials: readonly Material[] = [],
): object {
  const purl = ({ name, version }: { readonly name: string; readonly version: string }): string =>
    `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const reference =
    subject.type === 'application'
      ? { 'bom-ref': purl(subject), purl: purl(subject) }
      : { 'bom-ref': subject.name };
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...subject, ...reference } },
    components: [
      ...packages.map((p) => ({
        type: 'library',
        'bom-ref': purl(p),
        name: p.name,
        version: p.version,
        purl: purl(p),
        licenses: [/\s/.test(p.license) ? { expression: p.license } : { license: { id: p.license } }],
        ...(p.integrity && { hashes: hashesOf(integrityDigest(p.integrity)) }),
      })),
      ...materials.map(({ name, version, uri, digest }) => ({
        type: 'library',
        'bom-ref': uri,
        name,
        version,
        purl: uri,
        hashes: hashesOf(digest),
      })),
    ],
  };
}

const hashesOf = (digest: Material['digest']): readonly object[] =>
  Object.entries(digest).map(([algorithm, content]) => ({
    alg: algorithm.toUpperCase().replace('SHA', 'SHA-'),
    content,
  }));
