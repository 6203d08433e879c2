/** The Helm chart is documented, checked and versioned as it is. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ChartFacts, type ChartSchema, chartReadme } from '#infra/relay/chart-readme.ts';

const fileOf = (name: string): string => readFileSync(`infra/relay/chart-parts/${name}`, 'utf8');
const values = parse(fileOf('values.yaml')) as { readonly [value: string]: unknown };
const schema = JSON.parse(fileOf('values.schema.json')) as ChartSchema;
const chart = parse(fileOf('Chart.yaml')) as ChartFacts & {
  readonly version: string;
  readonly appVersion: string;
};

it('the schema allows the values of values.yaml and no others but Helm’s own', () => {
  expect(Object.keys(schema.properties).sort()).toEqual(['global', ...Object.keys(values)].sort());
  expect(schema).toMatchObject({ additionalProperties: false });
  expect(schema.required.filter((name) => values[name] !== '')).toEqual([]);
});

it('README.md of the chart documents the purpose of every value', () => {
  const rows = chartReadme(chart, fileOf('values.yaml'), schema)
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  expect(rows.map((row) => /^\| `(\w+)`/.exec(row)?.[1])).toEqual(Object.keys(values));
  expect(rows.filter((row) => (row.split(' | ')[3]?.length ?? 0) < 12)).toEqual([]);
});

it('the chart has a version of its own, and the version of the relay that it installs', () => {
  expect(chart.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(chart.appVersion).toBe(
    (JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }).version,
  );
});

it('docs/operate/getting-started.md installs the version at hand and the versions of the CDK that are tested', () => {
  const { version, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly version: string;
    readonly devDependencies: { readonly [name: string]: string };
  };
  const command = /^npm install (.*)$/m
    .exec(readFileSync('docs/operate/getting-started.md', 'utf8'))?.[1]
    ?.split(' ');
  const pinned = ['aws-cdk-lib', 'constructs', 'aws-cdk'].map((name) => `${name}@${devDependencies[name]}`);
  expect(command).toEqual([`./fleet-endpoints-${version}.tgz`, ...pinned, '--omit=optional']);
});
