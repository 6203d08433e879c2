/**
 * The runbook quotes titles of widgets and lines of logs: an operator searches for them as they are written.
 */
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { dashboards } from '#infra/aws/monitoring/dashboards.ts';

/** Texts of AWS, Node and OpenSSL. */
const ofOthers = [
  'AccessDenied',
  'CredentialsProviderError',
  'Failed to establish tunnel',
  'unable to verify the first certificate',
  'self-signed certificate',
];

const titles = dashboards.flatMap(({ rows }) =>
  rows.flatMap(({ widgets }) => widgets.map(({ title }) => title)),
);

it('every text in quotation marks in the runbook is the title of a widget, or a text that the code writes', () => {
  const page = readFileSync('docs/operate/runbook.md', 'utf8')
    .replace(/```[\s\S]*?```/g, '')
    .replace(/\n\s*/g, ' ')
    .replace(/`[^`]*`/g, '');
  const quoted = [...page.matchAll(/"([^"]+)"/g)].map(([, text = '']) => text);
  expect(quoted.length).toBeGreaterThan(40);
  const sources = globSync('{functions,shared,infra}/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const isKnown = (text: string): boolean =>
    titles.includes(text) || ofOthers.includes(text) || sources.some((source) => source.includes(text));
  expect(quoted.filter((text) => !isKnown(text))).toEqual([]);
});
