/**
 * `npm run release -- --dry-run` builds a release into dist/release; CONTRIBUTING.md lists the files. It
 * uploads and signs nothing, and refuses to run without --dry-run.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { parse } from 'yaml';
import { bundle } from '#infra/build.ts';
import { relayBundle } from '#infra/bundle-options.ts';
import { writeChart } from '#infra/cli/act/relay-install.ts';
import { archive, sha256Of } from './archive.ts';
import { billOfMaterials, bundledPackages, readLock } from './bundled-packages.ts';
import { krewManifest, type PackageFacts, pluginName } from './krew-manifest.ts';
import { addBlob, manifestType, packLayout } from './oci-layout.ts';
import { type Material, provenance } from './provenance.ts';
import { relayImage } from './relay-image.ts';

const run = promisify(execFile);
const out = 'dist/release';

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean' } } });
if (!values['dry-run'])
  fail('only --dry-run is there: it builds everything into dist/release, and uploads nothing');

interface Chart {
  readonly name: string;
  readonly version: string;
  readonly appVersion: string;
}

const facts = JSON.parse(await readFile('package.json', 'utf8')) as PackageFacts;
const { name, version } = facts;
const chart = parse(await readFile('infra/relay/chart-parts/Chart.yaml', 'utf8')) as Chart;
if (String(chart.appVersion) !== version)
  fail(
    `infra/relay/chart-parts/Chart.yaml has appVersion ${chart.appVersion}, and package.json version ${version}: they have to be the same`,
  );
if (!(await readFile('CHANGELOG.md', 'utf8')).includes(`## ${version}`))
  console.error(`CHANGELOG.md has no heading "## ${version}" yet: what is under "Unreleased" belongs there`);

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await run('npm', ['pack', '--pack-destination', out], { maxBuffer: 2 ** 26 });
await writeFile(
  join(out, `${pluginName}.yaml`),
  krewManifest(facts, await sha256Of(join(out, `${name}-${version}.tgz`))),
);
await packChart();
await archive(join(out, `${name}-relay-bundle-${version}.tgz`), 'dist', ['relay']);
await cp('dist/sbom.cdx.json', join(out, `${name}-${version}.sbom.cdx.json`));
const materials = await packImage(`${name}-relay-image`);

// What `npm run test:multi-cluster` and `npm run test:packets -- --all` have left, of this version only.
for (const suite of ['multi-cluster', 'packets']) await packConformance(suite);

// Records and messages of this version, for the next version's upgrade test (test/worlds/upgrade).
await run(process.execPath, [
  'test/worlds/upgrade/record.main.ts',
  version,
  join(out, `${name}-${version}.upgrade.json`),
]);

const built = await released();
const lockSha256 = await sha256Of('package-lock.json');
const [commit, changes] = [await git('rev-parse', 'HEAD'), await git('status', '--porcelain')];
const statement = provenance(built, {
  name,
  version,
  commit,
  isDirty: changes !== '',
  node: process.version,
  lockSha256,
  materials,
});
await writeFile(join(out, `${name}-${version}.provenance.json`), `${JSON.stringify(statement, null, 2)}\n`);

const sums = (await released()).map((file) => `${file.sha256}  ${file.name}`);
await writeFile(join(out, 'SHA256SUMS'), `${sums.join('\n')}\n`);
for (const line of sums) console.log(line);

/** A release without the report of a suite says so: the tests need minutes, and root for real packets. */
async function packConformance(suite: string): Promise<void> {
  const report = join('dist/conformance', suite);
  const text = await readFile(`${report}.yaml`, 'utf8').catch(() => 'null');
  const { implementation } = (parse(text) ?? {}) as {
    readonly implementation?: { readonly version: string };
  };
  if (implementation?.version !== version) {
    console.error(
      `no conformance report of ${version} is in ${report}.yaml: npm run test:${suite} writes it`,
    );
    return;
  }
  for (const type of ['yaml', 'html'])
    await cp(`${report}.${type}`, join(out, `${name}-${version}.conformance-${suite}.${type}`));
}

/** The image with its bill of materials. Returns what was put in besides the bundle. */
async function packImage(image: string): Promise<readonly Material[]> {
  const lock = readLock();
  const used = await relayImage(
    join(out, `${image}-${version}.oci.tar`),
    version,
    'dist/relay/relay.mjs',
    lock,
  );
  const { metafile } = await bundle(relayBundle);
  const bill = billOfMaterials(
    { name: image, version, type: 'container' },
    bundledPackages([metafile], lock),
    used,
  );
  await writeFile(join(out, `${image}-${version}.sbom.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`);
  return used;
}

/**
 * Packs the chart twice: as a .tgz in the layout of `helm package`, and as the OCI artefact that `helm push`
 * uploads.
 */
async function packChart(): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'fleet-endpoints-chart-'));
  const file = join(out, `${chart.name}-${chart.version}.tgz`);
  writeChart(join(scratch, chart.name));
  await archive(file, scratch, [chart.name]);
  const layout = join(scratch, 'layout');
  const config = await addBlob(layout, 'application/vnd.cncf.helm.config.v1+json', chart);
  const content = await addBlob(
    layout,
    'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
    await readFile(file),
  );
  const manifest = await addBlob(layout, manifestType, {
    schemaVersion: 2,
    mediaType: manifestType,
    config,
    layers: [content],
  });
  await packLayout(
    layout,
    manifest,
    chart.version,
    join(out, `${chart.name}-chart-${chart.version}.oci.tar`),
  );
  await rm(scratch, { recursive: true });
}

async function released(): Promise<readonly { readonly name: string; readonly sha256: string }[]> {
  const files = (await readdir(out)).sort();
  return Promise.all(files.map(async (file) => ({ name: file, sha256: await sha256Of(join(out, file)) })));
}

async function git(...args: readonly string[]): Promise<string> {
  return (await run('git', args)).stdout.trim();
}

function fail(reason: string): never {
  console.error(reason);
  process.exit(2);
}
