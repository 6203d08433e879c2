/**
 * npm run upstream -- v1.38.0: what a Kubernetes version changes for the hub. Compares the sources of the two controllers and their packages with those of the
 * version that the hub follows, records every vector again with that version's controllers and
 * plays the hub against it, and runs upstream's own unit tests of these packages.
 * Writes the vectors beside the present ones with `--write`. Needs Go.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { recorded } from '#test/conformance/vector.ts';
import { assertRelease, controlPlaneSources, followedVersion, go, kubernetesModule } from '#test/support/kubernetes-module.ts';

/** The packages whose behaviour docs/behaviour.md specifies, by module. */
const packages = [
  {
    module: 'k8s.io/kubernetes',
    paths: ['pkg/controller/endpoint', 'pkg/controller/endpointslice', 'pkg/api/v1/endpoints', 'pkg/controller/util/endpoint'],
  },
  { module: 'k8s.io/endpointslice', paths: [''] },
] as const;
const unitTests = ['k8s.io/kubernetes/pkg/controller/endpoint', 'k8s.io/kubernetes/pkg/controller/endpointslice/...', 'k8s.io/endpointslice/...'];

const { positionals, values } = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean' } } });
const [version = ''] = positionals;
try {
  if (positionals.length !== 1) throw new Error('one version is needed, such as v1.38.0');
  assertRelease(version);
  const followed = await followedVersion();
  const module = await kubernetesModule(version);
  console.log(`Sources of ${version} against ${followed}:`);
  for (const line of await sourceDifferences(module)) console.log(`  ${line}`);
  for (const file of recorded) await recordAgain(module, file);
  console.log(`\nUpstream's own unit tests of ${version}:`);
  console.log(await go(['test', ...unitTests], module).catch((error: Error) => error.message));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}

async function sourceDifferences(module: string): Promise<readonly string[]> {
  const differences: string[] = [];
  for (const { module: name, paths } of packages) {
    const [before, after] = await Promise.all(
      [controlPlaneSources, module].map(async (cwd) => (await go(['list', '-m', '-f', '{{.Dir}}', name], cwd)).trim()),
    );
    for (const path of paths) {
      // `diff` exits with 1 for files that differ.
      const args = [
        '-ruN',
        '--exclude=*_test.go',
        '--exclude=zz_generated*',
        '--exclude=go.mod',
        '--exclude=go.sum',
        join(before as string, path),
        join(after as string, path),
      ];
      const { stdout } = await promisify(execFile)('diff', args, { maxBuffer: 64 << 20 }).catch((e: { readonly stdout: string }) => e);
      differences.push(...stdout.split('\n').filter((line) => /^[-+]/.test(line)));
    }
  }
  return differences.length === 0 ? ['none'] : differences;
}

/** Records the vectors of a file again, and plays the hub against the result: what fails is a change of upstream that the hub lacks. */
async function recordAgain(module: string, file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'upstream-'));
  try {
    const [given, out, packed] = ['given.jsonl', 'recorded.jsonl', 'recorded.jsonl.gz'].map((name) => join(folder, name)) as [string, string, string];
    await writeFile(given, gunzipSync(await readFile(file)));
    await go(['test', './record', '-count=1', '-timeout=0', '-run=TestRecord', '-args', '-in', given, '-out', out], module);
    await writeFile(packed, gzipSync(await readFile(out), { level: 9 }));
    console.log(`\n${file}, recorded again:`);
    await once(spawn(process.execPath, ['test/conformance/conformance.main.ts', packed], { stdio: 'inherit' }), 'exit');
    if (values.write) await copyFile(packed, file.replace(/v1\.[\d.]+\d/, version));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
