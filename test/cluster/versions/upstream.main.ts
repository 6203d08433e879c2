/**
 * npm run upstream -- v1.38.0 [--sources] [--write]: the changes of a Kubernetes version that concern the
 * hub.
 *
 * - sources: the files of the two controllers and their packages that differ from the followed version;
 *   `--sources` prints the lines;
 * - outputs: the fields that change in the recorded vectors, recorded again with the version's controllers;
 *   `--write` stores the new recordings;
 * - shadow mode: the hub compares what these controllers wrote;
 * - upstream's own unit tests of these packages, for reference.
 *
 * Exits with 1 if shadow mode shows an unexplained difference or a unit test fails. Needs Go.
 */
import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import {
  assertRelease,
  controlPlaneSources,
  followedVersion,
  go,
  goVersion,
  kubernetesModule,
} from '#test/support/control-plane/kubernetes-module.ts';
import { programArguments } from '#test/support/program-arguments.ts';
import { readVectors, recorded } from '#test/worlds/conformance/vector.ts';
import { changedOutputs, changeLines } from './changed-outputs.ts';
import { record } from './recording.ts';
import { shadowExplanationOf } from './shadow-explanations.ts';
import { playInShadow, type WholeVector } from './shadow-vectors.ts';
import { sourceDifferences, summaryOf } from './source-differences.ts';

const unitTests = [
  'k8s.io/kubernetes/pkg/controller/endpoint',
  'k8s.io/kubernetes/pkg/controller/endpointslice/...',
  'k8s.io/endpointslice/...',
];

try {
  const { positionals, values } = programArguments({
    allowPositionals: true,
    options: { sources: { type: 'boolean' }, write: { type: 'boolean' } },
  });
  const [version = ''] = positionals;
  if (positionals.length !== 1)
    throw new Error(`one version is needed, such as v1.38.0: ${positionals.length} are given`);
  assertRelease(version);
  const followed = await followedVersion();
  const module = await kubernetesModule(version);
  console.log(`${version} is built with ${await goVersion(module)}`);

  const lines = await sourceDifferences(controlPlaneSources, module);
  heading(`sources of ${version} against ${followed}: ${summaryOf(lines).length} files differ`);
  print(values.sources ? lines : summaryOf(lines));

  heading(`outputs of ${version} against ${followed}, with the statements of docs/reference/parity.md`);
  for (const file of recorded) {
    // Every stored vector comes out alike in the recorder's twenty plays.
    const { vectors, leftOut, text } = await record(module, file, values.write ? [] : ['-plays', '5']);
    const changes = changedOutputs(readVectors(file), vectors);
    console.log(
      `${file}: ${vectors.length} vectors recorded again, ${changes.length === 0 ? 'no output changed' : 'these outputs changed:'}`,
    );
    print([...changeLines(changes), ...leftOut]);
    if (values.write) await writeFile(file.replace(/v1\.[\d.]+\d/, version), gzipSync(text, { level: 9 }));
  }

  heading(`shadow mode beside the controllers of ${version}`);
  for (const file of recorded) if (!(await compareInShadow(module, version, file))) process.exitCode = 1;

  heading(`upstream's unit tests of ${version}`);
  await go(['test', ...unitTests], module).then(console.log, (error: Error) => {
    console.log(error.message);
    process.exitCode = 1;
  });
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}

/** Returns false if shadow mode shows a difference without an explanation. */
async function compareInShadow(module: string, version: string, file: string): Promise<boolean> {
  const { vectors, leftOut } = await record<WholeVector>(module, file, ['-outputs', '-plays', '1']);
  const explained = new Map<string, Set<string>>();
  const unexplained: string[] = [];
  for (const vector of vectors)
    for (const difference of await playInShadow(vector, version)) {
      const name = shadowExplanationOf(version, vector, difference);
      if (name) explained.set(name, (explained.get(name) ?? new Set()).add(vector.id));
      else
        unexplained.push(`${vector.id}, step ${difference.step}, ${difference.service}: ${difference.line}`);
    }
  console.log(`${file}: ${unexplained.length} unexplained differences in ${vectors.length} vectors`);
  print([
    ...unexplained,
    ...[...explained].map(([name, ids]) => `explained in ${ids.size} vectors by ${name}`),
    ...leftOut,
  ]);
  return unexplained.length === 0;
}

function heading(text: string): void {
  console.log(`\n=== ${text}`);
}

function print(lines: readonly string[]): void {
  for (const line of lines) console.log(`  ${line}`);
}
