/** docs/monitoring.md: its tables have every metric and alert of the code. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { relayMonitoring } from '#infra/relay/prometheus-objects.ts';
import { type Metric, type MetricName, metrics, perCluster } from '#shared/contract/metrics.ts';
import { type RelayMetric, relayMetrics } from '#shared/contract/relay-metrics.ts';
import { type UpstreamMetric, upstreamMetrics } from '#shared/contract/upstream-metrics.ts';

const page = readFileSync('docs/monitoring.md', 'utf8');
/** The rows of the table below a heading. */
const rowsBelow = (heading: string): readonly string[] =>
  (page.split(`\n${heading}\n`)[1]?.split('\n#')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
const keptOf = (name: MetricName): string =>
  perCluster.few.includes(name) ? 'yes' : perCluster.all.includes(name) ? 'with `all`' : 'no';

it('the page has each metric of the hub with its unit, whether clusters have it, and its meaning', () => {
  const rows = Object.entries<Metric>(metrics).map(
    ([name, { unit, help }]) => `| \`${name}\` | ${unit} | ${keptOf(name as MetricName)} | ${help} |`,
  );
  expect(rowsBelow('### Metrics of the hub')).toEqual(rows);
});

it('the page has each metric of upstream’s controller with its labels and its meaning', () => {
  const labelsOf = (labels: readonly string[]): string =>
    labels.map((label) => `\`${label}\``).join(', ') || '-';
  const rows = Object.entries<UpstreamMetric>(upstreamMetrics).map(
    ([name, { type, labels, help }]) => `| \`${name}\` | ${type} | ${labelsOf(labels)} | ${help} |`,
  );
  expect(rowsBelow('### Metrics of kube-controller-manager')).toEqual(rows);
});

it('the page has each metric of the relay with its type and its meaning', () => {
  const rows = Object.entries<RelayMetric>(relayMetrics).map(
    ([name, { type, byKind, help }]) => `| \`${name}${byKind ? '{kind}' : ''}\` | ${type} | ${help} |`,
  );
  expect(rowsBelow('### Metrics of the relay')).toEqual(rows);
});

it('the page has each alert on the relay, which asks for metrics that exist', () => {
  const [, { spec }] = relayMonitoring('fleet-endpoints', {});
  const [{ rules }] = (spec as { readonly groups: readonly [{ readonly rules: readonly Rule[] }] }).groups;
  interface Rule {
    readonly alert: string;
    readonly expr: string;
    readonly for: string;
    readonly labels: { readonly severity: string };
    readonly annotations: { readonly summary: string };
  }
  const rows = rules.map(
    (rule) => `| \`${rule.alert}\` | ${rule.labels.severity} | ${rule.for} | ${rule.annotations.summary} |`,
  );
  expect(rowsBelow('### Alerts on the relay')).toEqual(rows);
  const asked = rules.flatMap(({ expr }) => expr.match(/relay_\w+/g) ?? []);
  expect(asked.length).toBeGreaterThanOrEqual(rules.length);
  expect(asked.filter((name) => !(name in relayMetrics))).toEqual([]);
});
