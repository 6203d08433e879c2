/** `npm run release -- --dry-run`: what it leaves in dist/release. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it('a dry run builds package, chart, relay bundle, bill of materials and the record for the next version’s upgrade test, with checksums that hold', async () => {
  await run('npm', ['run', '-s', 'release', '--', '--dry-run'], { maxBuffer: 2 ** 26 });
  const files = (await readdir('dist/release')).sort();
  expect(files.map((file) => file.replace(/\d+\.\d+\.\d+/, 'V'))).toEqual([
    'SHA256SUMS',
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
  expect(sums).toHaveLength(5);
  const { stdout } = await run('tar', ['-tzf', `dist/release/${files[4]}`]);
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['fleet-endpoints-relay/Chart.yaml', 'fleet-endpoints-relay/values.schema.json']));
});

it('without --dry-run the command builds nothing, and prints its usage', async () => {
  await expect(run('npm', ['run', '-s', 'release'])).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('only --dry-run is there') });
});
