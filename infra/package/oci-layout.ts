/**
 * OCI image layouts: a folder of blobs named by their digests, with an index
 * (github.com/opencontainers/image-spec).
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { archive, sha256 } from './archive.ts';

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os: 'linux'; readonly architecture: string };
  readonly annotations?: { readonly [name: string]: string };
}

export const indexType = 'application/vnd.oci.image.index.v1+json';
export const manifestType = 'application/vnd.oci.image.manifest.v1+json';

/** Adds a blob to the layout in `folder`. A blob that is not binary is JSON. */
export async function addBlob(
  folder: string,
  mediaType: string,
  content: Uint8Array | object,
): Promise<Descriptor> {
  const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
  const digest = sha256(bytes);
  const blobs = join(folder, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  await writeFile(join(blobs, digest), bytes);
  return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
}

/** Ends the layout in `folder` with `root` under the name `tag`, and packs it into `file`. */
export async function packLayout(folder: string, root: Descriptor, tag: string, file: string): Promise<void> {
  const named = { ...root, annotations: { ...root.annotations, 'org.opencontainers.image.ref.name': tag } };
  await writeFile(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await writeFile(
    join(folder, 'index.json'),
    JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: [named] }),
  );
  await archive(file, folder, (await readdir(folder)).sort(), 'none');
}
