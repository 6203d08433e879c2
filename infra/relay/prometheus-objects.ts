/**
 * The objects by which the Prometheus operator scrapes the relays of a cluster and alerts on them, for the
 * Helm chart. docs/operate/monitoring.md explains the alerts.
 */
import type { Manifest } from './manifest-yaml.ts';

export interface RelayAlert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
}

/** `where` selects the relays of one namespace. */
export const relayAlerts = (where: string): readonly RelayAlert[] => [
  {
    alert: 'RelayWithoutLeader',
    // Without any relay the sum has no value.
    expr: `(sum(relay_leading${where}) or vector(0)) < 1`,
    for: '2m',
    severity: 'critical',
    summary: 'No relay leads: the hub learns of no change in this cluster.',
  },
  {
    alert: 'RelayNotReady',
    expr: `relay_ready${where} == 0`,
    for: '10m',
    severity: 'warning',
    summary: 'A relay has not sent its first lists, or as a standby has not read the Lease.',
  },
  {
    alert: 'RelayCannotSend',
    expr: `rate(relay_queue_errors_total${where}[5m]) > 0`,
    for: '10m',
    severity: 'warning',
    summary: 'The events queue does not accept messages of a relay: role, network path or SQS.',
  },
  {
    alert: 'RelayCannotWatch',
    expr: `sum by (namespace, pod) (rate(relay_watch_errors_total${where}[5m])) > 0`,
    for: '15m',
    severity: 'warning',
    summary: 'Lists and watches of a relay keep failing: its rights, or the API server.',
  },
  {
    alert: 'RelayMessagesRefused',
    expr: `increase(relay_refused_total${where}[15m]) > 0`,
    for: '0m',
    severity: 'warning',
    summary: 'The queue refused messages of a relay for good. The relay’s log names their objects.',
  },
  {
    alert: 'RelayObjectsOmitted',
    expr: `sum by (namespace, pod) (increase(relay_unsendable_total${where}[15m])) > 0`,
    for: '0m',
    severity: 'warning',
    summary: 'A relay omits objects that are too large or cannot be projected. Its log names them.',
  },
];

/** A PodMonitor and a PrometheusRule, with `labels` by which an operator selects them. */
export function relayMonitoring(
  namespace: string,
  labels: { readonly [name: string]: string },
): readonly [Manifest, Manifest] {
  const metadata = {
    name: 'relay',
    namespace,
    labels: { 'app.kubernetes.io/name': 'relay', 'app.kubernetes.io/part-of': 'fleet-endpoints', ...labels },
  };
  const rules = relayAlerts(`{namespace="${namespace}"}`).map(({ severity, summary, ...rule }) => ({
    ...rule,
    labels: { severity },
    annotations: { summary },
  }));
  return [
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PodMonitor',
      metadata,
      spec: {
        selector: { matchLabels: { 'app.kubernetes.io/name': 'relay' } },
        podMetricsEndpoints: [{ port: 'http', path: '/metrics' }],
      },
    },
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata,
      spec: { groups: [{ name: 'fleet-endpoints-relay', rules }] },
    },
  ];
}
