import { type RelayAlert, relayAlerts } from '#infra/relay/prometheus-objects.ts';
import { type Metric, type MetricName, metrics, perCluster } from '#shared/contract/metrics.ts';
import { type RelayMetric, relayMetrics } from '#shared/contract/relay-metrics.ts';
import { type UpstreamMetric, upstreamMetrics } from '#shared/contract/upstream-metrics.ts';
import { code, page, table } from './markdown.ts';

const keptOf = (name: MetricName): string =>
  perCluster.few.includes(name) ? 'yes' : perCluster.all.includes(name) ? 'with `all`' : 'no';

const hubRow = ([name, { unit, help }]: [string, Metric]): readonly string[] => [
  code(name),
  unit,
  keptOf(name as MetricName),
  help,
];

const upstreamRow = ([name, { type, labels, help }]: [string, UpstreamMetric]): readonly string[] => [
  code(name),
  type,
  labels.map(code).join(', ') || '-',
  help,
];

const relayRow = ([name, { type, byKind, labels = byKind ? ['kind'] : [], help }]: [
  string,
  RelayMetric,
]): readonly string[] => [code(`${name}${labels.length > 0 ? `{${labels}}` : ''}`), type, help];

const alertRow = (rule: RelayAlert): readonly string[] => [
  code(rule.alert),
  rule.severity,
  rule.for,
  rule.summary,
];

export const metricsPage = (): string =>
  page('Metrics', 'shared/contract/metrics.ts', [
    'How to read them is in [monitoring](../operate/monitoring.md).',
    '## The hub',
    'Namespace `FleetEndpoints/HUB`, with the name of the hub. Each metric counts the whole fleet; with the dimension `cluster` it counts one cluster, as `hub.clusterMetrics` (`few` or `all`) says.',
    table(['metric', 'unit', 'also by cluster', 'meaning'], Object.entries<Metric>(metrics).map(hubRow)),
    '## kube-controller-manager',
    "The same names as upstream's EndpointSlice controller, with the dimensions `cluster` and the labels. CloudWatch keeps gauges only for clusters with `clusterMetrics: all`.",
    table(
      ['metric', 'type', 'labels', 'meaning'],
      Object.entries<UpstreamMetric>(upstreamMetrics).map(upstreamRow),
    ),
    '## The relay',
    'A label `kind` is the kind of object. A gauge is absent while it has no value.',
    table(['metric', 'type', 'meaning'], Object.entries<RelayMetric>(relayMetrics).map(relayRow)),
    '## Alerts on the relay',
    'The Helm chart has them for the Prometheus operator.',
    table(['alert', 'severity', 'for', 'meaning'], relayAlerts('').map(alertRow)),
  ]);
