/** `npm run release -- --dry-run`: what it leaves in dist/release. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { userEnv } from './installed.ts';

const run = promisify(execFile);

it('a dry run builds package, chart, relay bundle, krew’s manifest, bill of materials and the record for the next version’s upgrade test, with checksums that hold', async () => {
  await run('npm', ['run', '-s', 'release', '--', '--dry-run'], { maxBuffer: 2 ** 26 });
  const files = (await readdir('dist/release')).sort();
  expect(files.map((file) => file.replace(/\d+\.\d+\.\d+/, 'V'))).toEqual([
    'SHA256SUMS',
    'endpoints.yaml',
    'fleet-endpoints-V.sbom.cdx.json',
    'fleet-endpoints-V.tgz',
    'fleet-endpoints-V.upgrade.json',
    'fleet-endpoints-relay-V.tgz',
    'fleet-endpoints-relay-bundle-V.tgz',
  ]);
  const sums = (await readFile('dist/release/SHA256SUMS', 'utf8')).trim().split('\n');
  for (const line of sums) {
    const [sum, file] = line.split('  ');
    expect(
      createHash('sha256')
        .update(await readFile(`dist/release/${file}`))
        .digest('hex'),
    ).toBe(sum);
  }
  expect(sums).toHaveLength(6);
  const { stdout } = await run('tar', ['-tzf', `dist/release/${files[5]}`]);
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['fleet-endpoints-relay/Chart.yaml', 'fleet-endpoints-relay/values.schema.json']));
});

it('krew’s manifest installs the package as a plugin: its archive, its hash, its files and its program', async () => {
  const { metadata, spec, ...rest } = parse(await readFile('dist/release/endpoints.yaml', 'utf8'));
  expect(rest).toEqual({ apiVersion: 'krew.googlecontainertools.github.com/v1alpha2', kind: 'Plugin' });
  expect(spec).toMatchObject({ version: expect.stringMatching(/^v\d+\.\d+\.\d+/), shortDescription: expect.stringMatching(/^[^\n]{1,50}$/) });
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
    await expect(alone).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: a local run needs the package dynalite/) });
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('without --dry-run the command builds nothing, and prints its usage', async () => {
  await expect(run('npm', ['run', '-s', 'release'])).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('only --dry-run is there') });
});
