/**
 * The sources and packages of a release, as an unsigned in-toto statement with SLSA's provenance
 * (slsa.dev/spec/v1.0/provenance).
 */

/** A package of others, with the hash of its archive. */
export interface Material {
  readonly name: string;
  readonly version: string;
  /** Its package URL. */
  readonly uri: string;
  readonly digest: { readonly [algorithm: string]: string };
}

export interface ReleasedFile {
  readonly name: string;
  readonly sha256: string;
}

/** npm's integrity, such as sha512-BASE64, in in-toto's form. */
export function integrityDigest(integrity: string): Material['digest'] {
  const [algorithm = '', base64 = ''] = integrity.split(/-(.*)/);
  return { [algorithm]: Buffer.from(base64, 'base64').toString('hex') };
}

export interface Build {
  readonly name: string;
  readonly version: string;
  /** Commit of the sources. */
  readonly commit: string;
  /** The sources differ from the commit. */
  readonly isDirty: boolean;
  readonly node: string;
  readonly lockSha256: string;
  readonly materials: readonly Material[];
}

export function provenance(
  files: readonly ReleasedFile[],
  { name, version, commit, isDirty, node, lockSha256, materials }: Build,
): object {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map((file) => ({ name: file.name, digest: { sha256: file.sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `urn:${name}:npm-run-release`,
        externalParameters: { name, version },
        internalParameters: { node, uncommittedChanges: isDirty },
        resolvedDependencies: [
          { name: 'sources', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lockSha256 } },
          ...materials.map(({ uri, digest }) => ({ uri, digest })),
        ],
      },
      // The statement is unsigned, so it proves nothing about its builder.
      runDetails: { builder: { id: `urn:${name}:unsigned-local-build` } },
    },
  };
}
