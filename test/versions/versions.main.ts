/**
 * npm run test:versions [-- 1.31 1.37 …]: the hub on control planes of these Kubernetes versions, by default all of versions.ts. Each version plays
 *
 * - shadow: the parity script beside that version's own controllers, compared by a run in shadow mode;
 * - active: the parity script with the hub in place of these controllers, and each takes over what the other has written;
 * - opt-in, rights: test/cluster's suites of Services that opt in, and of the writer's RBAC and admission policies.
 *
 * Prints a row of docs/versions.md for each version.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareRuns } from '#test/cluster/parity/comparison.ts';
import { playOurs, playUpstreams } from '#test/cluster/parity/runs.ts';
import { script } from '#test/cluster/parity/script.ts';
import type { Step } from '#test/cluster/parity/step.ts';
import { componentsBinary, controlPlaneBinary } from '#test/support/control-plane-binary.ts';
import { type Feature, lackedBy, versions } from './versions.ts';

const suites = {
  'opt-in': ['test/cluster/opt-in/opt-in.test.ts'],
  rights: ['test/cluster/writer-limits.test.ts', 'test/cluster/opt-in/writer-limits.test.ts', 'test/cluster/clusterset/writer-limits.test.ts'],
} as const;

const { positionals, values } = parseArgs({ allowPositionals: true, options: { steps: { type: 'string' } } });
const unknown = positionals.filter((given) => !versions.some((v) => v === given || v.startsWith(`v${given}.`)));
if (unknown.length > 0) {
  console.error(`no version ${unknown.join(', ')}: there are ${versions.join(', ')}`);
  process.exit(2);
}
const chosen = versions.filter((v) => positionals.length === 0 || positionals.some((given) => v === given || v.startsWith(`v${given}.`)));

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
await controlPlaneBinary();
for (const version of chosen) await componentsBinary(version);

let failed = false;
const rows: string[] = [];
for (const version of chosen) {
  process.env['KUBERNETES_VERSION'] = version;
  const lacked = lackedBy(version);
  console.log(`\n=== ${version}, without ${lacked.map(({ name }) => name).join('; ') || 'no feature of the newest'}`);
  const { shadow, active } = await playScript(lacked);
  const results = { shadow, active, 'opt-in': await runSuite(suites['opt-in']), rights: await runSuite(suites.rights) };
  failed ||= Object.values(results).some((result) => result.startsWith('FAILED'));
  rows.push(`| ${[version, ...Object.values(results)].join(' | ')} |`);
}
console.log(['', `| version | shadow | active | opt-in | rights |`, '| --- | --- | --- | --- | --- |', ...rows].join('\n'));
process.exitCode = failed ? 1 : 0;

async function playScript(lacked: readonly Feature[]): Promise<{ readonly shadow: string; readonly active: string }> {
  const steps = playable(lacked);
  const say = (who: string) => (line: string) => console.log(`${who} ${line}`);
  const theirs = await playUpstreams(steps, say('upstream'), true);
  const ours = await playOurs(steps, say('ours    '));
  for (const line of theirs.differing) console.log(`shadow: ${line}`);
  const explained = new Set<string>();
  const left = compareRuns(steps, theirs, ours).flatMap(({ what, lines }) =>
    lines.filter((line) => !isExplained(line, lacked, explained)).map((line) => `${what}: ${line}`),
  );
  for (const line of left) console.log(`active: ${line}`);
  const of = `${steps.length} steps${explained.size > 0 ? `, but ${[...explained].join(', ')}` : ''}`;
  return {
    shadow: theirs.differing.length === 0 ? `0 differences in ${steps.length} steps` : `FAILED: ${theirs.differing.length} services differ`,
    active: left.length === 0 ? `alike in ${of}` : `FAILED: ${left.length} differences`,
  };
}

function playable(lacked: readonly Feature[]): readonly Step[] {
  const without = new Set(lacked.flatMap(({ steps = [] }) => steps));
  return script.slice(0, values.steps === undefined ? undefined : Number(values.steps)).filter(({ what }) => !without.has(what));
}

function isExplained(line: string, lacked: readonly Feature[], explained: Set<string>): boolean {
  const feature = lacked.find(({ explains }) => explains?.test(line));
  if (feature) explained.add(feature.statement);
  return feature !== undefined;
}

async function runSuite(files: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'versions-'));
  const report = join(folder, 'report.json');
  const args = ['vitest', 'run', '--config', 'test/cluster/vitest.config.ts', '--reporter=json', `--outputFile=${report}`, '--silent=true', ...files];
  await once(spawn('npx', args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close');
  const { numPassedTests, numTotalTests, testResults } = JSON.parse(await readFile(report, 'utf8')) as Report;
  await rm(folder, { recursive: true });
  for (const { assertionResults } of testResults)
    for (const { status, fullName, failureMessages } of assertionResults)
      if (status === 'failed') console.log(`failed: ${fullName}\n  ${failureMessages[0]?.split('\n').slice(0, 6).join('\n  ')}`);
  return numPassedTests === numTotalTests && numTotalTests > 0
    ? `${numPassedTests} passed`
    : `FAILED: ${numTotalTests - numPassedTests} of ${numTotalTests}`;
}

interface Report {
  readonly numPassedTests: number;
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string; readonly failureMessages: readonly string[] }[];
  }[];
}
