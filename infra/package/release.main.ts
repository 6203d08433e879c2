/**
 * `npm run release -- --dry-run` builds a release into dist/release: the package, the chart, the relay's bundle with its Dockerfile, krew's manifest,
 * and the bill of materials. The input of the next version's upgrade test and checksums are added. It uploads nothing, and refuses to run without --dry-run.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { parse } from 'yaml';
import { krewManifest, type PackageFacts, pluginName } from './krew-manifest.ts';

const run = promisify(execFile);
const out = 'dist/release';

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean' } } });
if (!values['dry-run']) fail('only --dry-run is there: it builds everything into dist/release, and uploads nothing');

const facts = JSON.parse(await readFile('package.json', 'utf8')) as PackageFacts;
const { version } = facts;
const chart = parse(await readFile('infra/relay/chart/Chart.yaml', 'utf8')) as {
  readonly name: string;
  readonly version: string;
  readonly appVersion: string;
};
if (String(chart.appVersion) !== version)
  fail(`infra/relay/chart/Chart.yaml has appVersion ${chart.appVersion}, and package.json version ${version}: they have to be the same`);
if (!(await readFile('CHANGELOG.md', 'utf8')).includes(`## ${version}`))
  console.error(`CHANGELOG.md has no heading "## ${version}" yet: what is under "Unreleased" belongs there`);

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await run('npm', ['pack', '--pack-destination', out], { maxBuffer: 2 ** 26 });
await writeFile(join(out, `${pluginName}.yaml`), krewManifest(facts, await hashOf(`${facts.name}-${version}.tgz`)));
// As `helm package` lays it out: one folder, by the chart's name.
await cp('infra/relay/chart', join(out, chart.name), { recursive: true });
await archive(`${chart.name}-${chart.version}.tgz`, out, chart.name);
await rm(join(out, chart.name), { recursive: true });
await archive(`fleet-endpoints-relay-bundle-${version}.tgz`, 'dist', 'relay');
await cp('dist/sbom.cdx.json', join(out, `fleet-endpoints-${version}.sbom.cdx.json`));

// Records and messages of this version, for the next version's upgrade test (docs/upgrading.md).
await run(process.execPath, ['test/upgrade/record.main.ts', version, join(out, `fleet-endpoints-${version}.upgrade.json`)]);

const files = (await readdir(out)).sort();
const sums = await Promise.all(files.map(async (file) => `${await hashOf(file)}  ${file}`));
await writeFile(join(out, 'SHA256SUMS'), `${sums.join('\n')}\n`);
for (const line of sums) console.log(line);

async function hashOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(out, file)))
    .digest('hex');
}

/** The same files give the same archive: no times, owners or order of the disk. */
async function archive(name: string, folder: string, what: string): Promise<void> {
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
  await run('tar', [...same, '-I', 'gzip -n', '-cf', join(out, name), '-C', folder, what]);
}

function fail(reason: string): never {
  console.error(reason);
  process.exit(2);
}
