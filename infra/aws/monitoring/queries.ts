/**
 * Saved queries of CloudWatch Logs Insights, under the hub's name: the first questions of an investigation.
 * Names in capitals are placeholders.
 */
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { FunctionRole } from './series.ts';

export interface Query {
  readonly name: string;
  /** Whose logs. */
  readonly roles: readonly FunctionRole[];
  readonly text: readonly string[];
}

const all = ['worker', 'sweep'] as const;
/** A line of metrics holds a value, or up to 100 of them. */
const calls = ['ApiLatency', ...Array.from({ length: 10 }, (_, i) => `ApiLatency.${i}`)];

export const queries: readonly Query[] = [
  {
    name: 'log lines of one service',
    roles: all,
    text: [
      'fields @timestamp, level, message, coalesce(error, reason, differences) as why, requestId',
      "filter cluster = 'CLUSTER' and namespace = 'NAMESPACE' and (name = 'SERVICE' or service = 'SERVICE')",
      'sort @timestamp desc',
      'limit 200',
    ],
  },
  {
    name: 'failures by cluster',
    roles: all,
    text: [
      "filter level in ['warn', 'error']",
      'stats count(*) as lines, max(@timestamp) as newest by cluster, stage, message',
      'sort lines desc',
      'limit 100',
    ],
  },
  {
    name: 'waiting lists and quarantined messages',
    roles: all,
    text: [
      'fields @timestamp, cluster, message, kind, reason',
      "filter message in ['list would delete too much: not applied until it is confirmed', 'full list read from the cluster and queued', 'events message quarantined']",
      'sort @timestamp desc',
      'limit 200',
    ],
  },
  {
    name: 'slow calls of cluster APIs',
    roles: all,
    text: [
      `filter ${calls.map((field) => `${field} > 1000`).join(' or ')}`,
      'stats count(*) as runs, max(@timestamp) as newest by cluster, bin(5m)',
      'sort runs desc',
      'limit 100',
    ],
  },
  {
    name: 'slowest Services',
    roles: ['worker'],
    text: [
      "filter message = 'slow endpoint'",
      'stats max(ms) as slowest, count(*) as times, max(@timestamp) as newest by cluster, namespace, service, change, writer',
      'sort slowest desc',
      'limit 100',
    ],
  },
  {
    name: 'failed messages',
    roles: ['worker'],
    text: [
      'fields @timestamp, cluster, message, namespace, kind, service, messageId, error, requestId',
      "filter message in ['events message failed', 'events message takes more than one run', 'wake-up failed', 'wake-ups failed'] or type = 'platform.report'",
      'sort @timestamp desc',
      'limit 200',
    ],
  },
];

export function saveQueries(scope: Construct, hub: string, logGroupOf: (role: FunctionRole) => string): void {
  for (const [i, { name, roles, text }] of queries.entries())
    new CfnQueryDefinition(scope, `Query${i + 1}`, {
      name: `${hub}/${name}`,
      logGroupNames: roles.map(logGroupOf),
      queryString: text.join('\n| '),
    });
}
