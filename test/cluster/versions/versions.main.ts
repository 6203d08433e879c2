/**
 * npm run test:versions [-- 1.31 1.37 …] [--only script,imports] [--rest SECONDS] [--steps N]: the hub on
 * control planes of these Kubernetes versions, by default all of versions.ts. Each version plays these
 * checks:
 *
 * - shadow: the parity script and a load beside that version's own controllers, compared by a run in shadow
 *   mode;
 * - active: the parity script with the hub in place of these controllers, and each takes over what the other
 *   has written;
 * - at rest: the hub's write requests in the time after the script, by default five minutes;
 * - opt-in, rights, imports: the suites of Services that opt in, of the writer's RBAC and admission policies,
 *   and of imports.
 *
 * Prints the results of each version. docs/operate/versions.md has the versions and their features.
 */
import { componentsBinary, controlPlaneBinary } from '#test/support/control-plane/control-plane-binary.ts';
import { programArguments } from '#test/support/program-arguments.ts';
import { playScript } from './script-check.ts';
import { playSuite, type SuiteName, suites } from './suite-check.ts';
import { versions } from './versions.ts';

const checks = ['script', ...(Object.keys(suites) as SuiteName[])] as const;
const { positionals, values } = programArguments({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: checks.join() },
    rest: { type: 'string', default: '300' },
    steps: { type: 'string' },
  },
});
const numberOf = (option: 'rest' | 'steps', unit: string): number => {
  const number = Number(values[option] ?? Number.POSITIVE_INFINITY);
  if (number >= 0) return number;
  throw new Error(`--${option} ${values[option]}: a number of ${unit}`);
};
const chosenOf = <T extends string>(
  what: string,
  given: readonly string[],
  all: readonly T[],
  is: (one: T, text: string) => boolean,
): readonly T[] => {
  const unknown = given.filter((text) => !all.some((one) => is(one, text)));
  if (unknown.length > 0) throw new Error(`no ${what} ${unknown.join(', ')}: there are ${all.join(', ')}`);
  return all.filter((one) => given.length === 0 || given.some((text) => is(one, text)));
};

function failedScript(error: Error): readonly string[] {
  console.log(error.stack);
  return ['FAILED', 'FAILED', 'FAILED'];
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
try {
  const chosen = chosenOf(
    'version',
    positionals,
    versions,
    (version, text) => version === text || version.startsWith(`v${text}.`),
  );
  const only = chosenOf('check', values.only.split(','), checks, (check, text) => check === text);
  const [steps, restSeconds] = [numberOf('steps', 'steps'), numberOf('rest', 'seconds')];
  await controlPlaneBinary();
  for (const version of chosen) await componentsBinary(version);

  const rows: string[] = [];
  for (const version of chosen) {
    process.env['KUBERNETES_VERSION'] = version;
    console.log(`\n=== ${version}`);
    const started = Date.now();
    const results = only.includes('script')
      ? [...(await playScript(version, { steps, restSeconds }).catch(failedScript))]
      : ['-', '-', '-'];
    for (const suite of Object.keys(suites) as SuiteName[])
      results.push(only.includes(suite) ? await playSuite(suite) : '-');
    console.log(`=== ${version}: ${Math.round((Date.now() - started) / 1000)} s`);
    rows.push(`| ${[version, new Date().toISOString().slice(0, 10), ...results].join(' | ')} |`);
  }
  const header = ['version', 'date', 'shadow', 'active', 'at rest', ...Object.keys(suites)];
  console.log(['', `| ${header.join(' | ')} |`, `|${' --- |'.repeat(header.length)}`, ...rows].join('\n'));
  if (rows.some((row) => row.includes('FAILED'))) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
