/**
 * A report of the specs of the Multi-Cluster Services API's conformance suite, in YAML and HTML. The specs are
 * restated in our terms (scenarios/conformance.ts, test/clusterset/packets/conformance.test.ts), so it is no report of the
 * suite itself.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestCase } from 'vitest/node';
import { stringify } from 'yaml';

export interface SpecResult {
  readonly name: string;
  readonly state: string;
  /** The first line of the failure. */
  readonly message?: string;
}

export interface ConformanceReport {
  readonly implementation: { readonly name: string; readonly version: string };
  /** Whose specs these are. */
  readonly specsOf: string;
  readonly date: string;
  /** The command that has tried them. */
  readonly command: string;
  readonly passed: number;
  readonly specs: readonly SpecResult[];
}

const folder = 'dist/conformance';
const specsOf = 'conformance suite of sigs.k8s.io/mcs-api v0.5.0';

/** `isSpec`: the tests that are specs. Nothing is written by a run without any, or with chosen tests alone. */
export const conformanceReporter = (name: string, isSpec: (test: TestCase) => boolean): Reporter => ({
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]).filter(isSpec);
    if (tests.length === 0 || tests.some((test) => test.result().state === 'skipped')) return;
    const { name: project, version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      readonly name: string;
      readonly version: string;
    };
    const specs = tests.map(resultOf).sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
    const report: ConformanceReport = {
      implementation: { name: project, version },
      specsOf,
      date: new Date().toISOString(),
      command: `npm run test:${name}`,
      passed: specs.filter(({ state }) => state === 'passed').length,
      specs,
    };
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.yaml`), stringify(report));
    writeFileSync(join(folder, `${name}.html`), reportHtml(report));
    console.log(
      `conformance: ${report.passed} of ${specs.length} specs passed: ${folder}/${name}.yaml, .html`,
    );
  },
});

function resultOf(test: TestCase): SpecResult {
  const { state, errors } = test.result();
  const message = errors?.[0]?.message.split('\n')[0];
  return { name: test.name, state, ...(message !== undefined && { message }) };
}

export function reportHtml({ implementation, date, command, passed, specs }: ConformanceReport): string {
  const rows = specs.map(
    ({ name, state, message = '' }) =>
      `<tr><td>${escaped(name)}</td><td>${escaped(state)}</td><td>${escaped(message)}</td></tr>`,
  );
  const title = `${implementation.name} ${implementation.version}: ${passed} of ${specs.length} specs passed`;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${escaped(title)}</title>
<h1>${escaped(title)}</h1>
<p>Specs of the ${escaped(specsOf)}, restated and tried by ${escaped(command)} on ${escaped(date)}.</p>
<table><tr><th>Spec</th><th>Result</th><th>Failure</th></tr>
${rows.join('\n')}
</table></html>
`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
