/** The hub's part of clusters.yaml: each value's form, its default, what it means, and the sentence that describes the allowed values. */

import { clusterMetricsChoices } from '#shared/contract/metrics.ts';
import { clustersetShape } from './clusterset-shape.ts';
import type { HubConfig } from './config.ts';
import { arn, awsRegion, keyArn, matches } from './config-values.ts';
import { checked, fields, flag, integer, list, oneOf, optional, required, type Shape, text, withDefault } from './yaml-shape.ts';

/** An ARN with * for the parts that differ. */
const arnPattern = (service: string, what: string): Shape<string> =>
  matches(
    `the ARN of ${what}, in which * may stand for anything but the account`,
    new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]*:[0-9]{12}:[^*].*$`),
  );
const rolePattern = matches(
  'the ARN of roles, arn:aws:iam::ACCOUNT:role/…, in which * may stand for the account and within the name',
  /^arn:aws[a-z-]*:iam::([0-9]{12}|\*):role\/[^*].*$/,
);
const operatorRoles = checked(list(arnPattern('iam', 'a role')), (arns) =>
  arns.length > 20
    ? `${arns.length} roles are too many for the policies of the queues: 20 are allowed, and a pattern with * may stand for several`
    : undefined,
);
const webPage = text('the address of a page, https://… without a #fragment', (value) => URL.canParse(value) && /^https?:\/\/[^#]+$/.test(value));

const proxy = text('the address of a proxy, http://HOST:PORT, without user and path', (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && `${url.pathname}${url.search}${url.hash}` === '/';
});
/** The forms that Node's agents know: a range of addresses with "/" would match nothing. */
const directHost = matches('a host, HOST:PORT, .DOMAIN, an address, FIRST-LAST of a range of IPv4 addresses, or *', /^(\*|[A-Za-z0-9._:*-]+)$/);

const capacityRange = checked(
  fields({
    min: required(integer(1, 1_000_000)),
    max: required(integer(1, 1_000_000)),
  }),
  ({ min, max }) => (max < min ? `max is ${max}, and at least min, ${min}, is needed` : undefined),
);

const awsOwnedKeys = { table: undefined, queues: undefined, logs: undefined };
const noTopics = { pageTopicArn: undefined, ticketTopicArn: undefined };

const toldOfBudget = ({ monthlyBudget, alarms }: Pick<HubConfig, 'monthlyBudget' | 'alarms'>): string | undefined =>
  monthlyBudget !== undefined && !alarms.ticketTopicArn
    ? 'monthlyBudget is given, but alarms.ticketTopicArn is missing: the budget is reported there'
    : undefined;

const retentionDays: readonly number[] = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653];

export const hubShape: Shape<HubConfig> = checked(
  fields(
    {
      name: withDefault(
        matches('1 to 20 letters and digits, beginning with a letter', /^[A-Za-z][A-Za-z0-9]{0,19}$/),
        'FleetEndpoints',
        "Begins every stack's name: two hubs in one account need two names.",
      ),
      account: optional(
        matches('an account id of 12 digits, in quotes', /^[0-9]{12}$/),
        "AWS account of the hub; by default the credentials' account.",
      ),
      region: optional(awsRegion, "AWS region of the hub; by default the credentials' region."),
      logRetentionDays: withDefault(
        checked(integer(1, 3653), (days) =>
          retentionDays.includes(days) ? undefined : `${days} is not a retention that CloudWatch Logs has: ${retentionDays.join(', ')} are allowed`,
        ),
        14,
        "Retention of the functions' logs, in days.",
      ),
      lambdaConcurrencyLimit: withDefault(
        integer(10, 1_000_000),
        1000,
        "The account's quota for concurrent executions: all concurrency may add up to four fifths.",
      ),
      reserveConcurrency: withDefault(
        flag,
        false,
        'Keeps executions for sweep and register; Lambda refuses that where fewer than 100 would be left for the rest.',
      ),
      operatorRoleArns: withDefault(
        operatorRoles,
        [],
        'Who may send to queues besides relays and functions: the people who run redrive and cluster.',
      ),
      access: withDefault(
        fields({
          secrets: withDefault(list(arnPattern('secretsmanager', 'secrets')), [], 'Patterns of secret ARNs in Secrets Manager.'),
          roles: withDefault(list(rolePattern), [], 'Patterns of role ARNs in IAM.'),
        }),
        { secrets: [], roles: [] },
        "Patterns that the clusters' secrets and roles are within, for hundreds of clusters, or clusters whose stacks are in other apps.",
      ),
      encryption: withDefault(
        fields({
          table: optional(keyArn, 'ARN of the KMS key of the table; needs region.'),
          queues: optional(keyArn, 'ARN of the KMS key of the queues.'),
          logs: optional(keyArn, 'ARN of the KMS key of the logs; its policy must admit CloudWatch Logs.'),
        }),
        awsOwnedKeys,
        "Customer-managed KMS keys; AWS's own keys by default.",
      ),
      capacity: optional(
        fields({
          reads: required(capacityRange),
          writes: required(capacityRange),
        }),
        'Provisioned units a second of the table, and again of its index, with auto scaling to 70 % use; on demand by default (docs/cost.md).',
      ),
      warmThroughput: optional(
        fields({
          reads: required(integer(12_000, 10_000_000), 'Read units a second.'),
          writes: required(integer(4_000, 10_000_000), 'Write units a second.'),
        }),
        'Throughput that the table serves at once, before it has scaled with use.',
      ),
      registrationEpoch: withDefault(integer(0, 1_000_000), 0, 'Another number makes the next deploy register every cluster again.'),
      vpc: optional(
        checked(
          fields({
            vpcId: required(matches('the id of a VPC, vpc-…', /^vpc-[0-9a-f]+$/), 'Id of the VPC.'),
            subnetIds: required(
              list(matches('the id of a subnet, subnet-…', /^subnet-[0-9a-f]+$/)),
              'Private subnets with routes to the API servers and to AWS.',
            ),
            securityGroupIds: required(
              list(matches('the id of a security group, sg-…', /^sg-[0-9a-f]+$/)),
              'Security groups of the functions; the hub does not change them.',
            ),
            httpsProxy: optional(proxy, 'Proxy of sync and sweep for all HTTPS: AWS and the API servers.'),
            noProxy: withDefault(list(directHost), [], 'Hosts that sync and sweep reach without the proxy.'),
          }),
          ({ httpsProxy, noProxy }) => (httpsProxy === undefined && noProxy.length > 0 ? 'noProxy is given, but httpsProxy is missing' : undefined),
        ),
        'VPC in which sync and sweep run, to reach private API endpoints.',
      ),
      alarms: withDefault(
        fields({
          pageTopicArn: optional(arn('sns', 'a topic'), 'Topic of alarms that page.'),
          ticketTopicArn: optional(arn('sns', 'a topic'), 'Topic of alarms that can wait for working hours.'),
        }),
        noTopics,
        'Topics that receive the alarms.',
      ),
      tracing: withDefault(flag, false, "Segments of the functions' invocations for X-Ray."),
      clusterMetrics: withDefault(
        oneOf(...clusterMetricsChoices),
        'few' as const,
        "Metrics kept for each cluster: `few` keeps three and all metrics of trouble, `all` adds upstream's gauges.",
      ),
      monthlyBudget: optional(
        integer(1, 10_000_000),
        'Monthly budget of the whole account, US dollars: a ticket at 80 %, and if the forecast exceeds it.',
      ),
      rollout: withDefault(
        oneOf('gradual', 'at-once'),
        'gradual' as const,
        '`gradual` shifts traffic, a tenth a minute, to new versions of ingest and sync and rolls back on failures; `at-once` shifts all of it.',
      ),
      clusterset: optional(clustersetShape, 'Settings that all exporters and importers of Services share.'),
      runbookUrl: optional(webPage, 'Address at which docs/runbook.md can be read: alarms link to its headings.'),
    },
    'HubInput',
  ),
  toldOfBudget,
) as Shape<HubConfig>;
