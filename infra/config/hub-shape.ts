/**
 * The hub's part of clusters.yaml: each value's form, its default, what it means, and the sentence that
 * describes the allowed values.
 */

import { clusterMetricsChoices } from '#shared/contract/metrics.ts';
import type { HubConfig } from './config.ts';
import { asCdk, awsRegion, keyArn, matches, topicArn } from './config-values.ts';
import { keysOf } from './wing.ts';
import { checked } from './yaml/yaml-rules.ts';
import {
  fields,
  integer,
  known,
  list,
  oneOf,
  optional,
  required,
  type Shape,
  text,
  withDefault,
} from './yaml/yaml-shape.ts';

const operatorRole = matches(
  'the ARN of a role, in which * may stand for anything but the account',
  /^arn:aws[a-z-]*:iam:[a-z0-9-]*:[0-9]{12}:[^*].*$/,
);
const accessPattern = matches(
  'the ARN of secrets, arn:aws:secretsmanager:REGION:ACCOUNT:secret:…, or of roles, arn:aws:iam::ACCOUNT:role/…, in which * may stand within the name, and for the account of roles',
  /^arn:aws[a-z-]*:(secretsmanager:[a-z0-9-]*:[0-9]{12}:[^*].*|iam::([0-9]{12}|\*):role\/[^*].*)$/,
);
export const tooManyOperators = ({ length }: readonly string[]): string | undefined =>
  length > 20
    ? `${length} roles are too many for the policies of the queues: 20 are allowed, and a pattern with * may stand for several`
    : undefined;
const operatorRoles = checked(list(operatorRole), tooManyOperators);
const webPage = text(
  'the address of a page, https://… without a #fragment',
  (value) => URL.canParse(value) && /^https?:\/\/[^#]+$/.test(value),
);

const proxy = text('the address of a proxy, http://HOST:PORT, without user and path', (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    `${url.pathname}${url.search}${url.hash}` === '/'
  );
});
/** The forms that Node's agents know: a range of addresses with "/" would match nothing. */
const directHost = matches(
  'a host, HOST:PORT, .DOMAIN, an address, FIRST-LAST of a range of IPv4 addresses, or *',
  /^(\*|[A-Za-z0-9._:*-]+)$/,
);

const units = integer(1, 1_000_000);
const maxBelowMin = (kind: string, min: number, max: number): string | undefined =>
  max < min ? `max${kind} is ${max}, and at least min${kind}, ${min}, is needed` : undefined;
const capacity = checked(
  fields({
    minReads: required(units, 'At least this number of read units a second is provisioned.'),
    maxReads: required(units, 'At most this number of read units a second is provisioned.'),
    minWrites: required(units, 'At least this number of write units a second is provisioned.'),
    maxWrites: required(units, 'At most this number of write units a second is provisioned.'),
  }),
  ({ minReads, maxReads, minWrites, maxWrites }) =>
    maxBelowMin('Reads', minReads, maxReads) ?? maxBelowMin('Writes', minWrites, maxWrites),
);

const awsOwnedKeys = { table: undefined, queues: undefined, logs: undefined };

const retentionDays: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

export const hubShape: Shape<HubConfig> = fields(
  {
    name: withDefault(
      known(matches('1 to 20 letters and digits, beginning with a letter', /^[A-Za-z][A-Za-z0-9]{0,19}$/)),
      'FleetEndpoints',
      'The name begins the names of stacks, queues, roles and dashboards. Two hubs in one account need two names.',
    ),
    account: optional(
      matches('an account id of 12 digits, in quotes', /^[0-9]{12}$/),
      "The hub is in this AWS account; without it, in the credentials' account.",
    ),
    region: optional(awsRegion, "The hub is in this AWS region; without it, in the credentials' region."),
    logRetentionDays: withDefault(
      asCdk(
        checked(integer(1, 3653), (days) =>
          retentionDays.includes(days)
            ? undefined
            : `${days} is not a retention that CloudWatch Logs has: ${retentionDays.join(', ')} are allowed`,
        ),
        { type: 'logs.RetentionDays' },
      ),
      14,
      "CloudWatch Logs keeps the functions' logs for this time.",
    ),
    lambdaConcurrencyLimit: withDefault(
      integer(10, 1_000_000),
      1000,
      'The account allows this number of concurrent Lambda executions. The concurrency of all clusters may add up to four fifths of it.',
    ),
    operatorRoleArns: withDefault(
      operatorRoles,
      [],
      'These roles may send to the queues, besides relays and functions: their people run `redrive` and `cluster`.',
    ),
    access: withDefault(
      list(accessPattern),
      [],
      'The ARNs of the secrets and roles of clusters match these patterns. Hundreds of clusters need them, and clusters whose stacks are in other apps.',
    ),
    encryption: withDefault(
      fields({
        table: optional(keyArn, 'This KMS key encrypts the table. The region of the hub must be known.'),
        queues: optional(keyArn, 'This KMS key encrypts the queues.'),
        logs: optional(keyArn, 'This KMS key encrypts the logs. Its policy must admit CloudWatch Logs.'),
      }),
      awsOwnedKeys,
      "KMS keys of your own encrypt table, queues and logs. Without them AWS's own keys do.",
    ),
    capacity: optional(
      capacity,
      'Auto scaling provisions units a second for the table, and again for its index, so that 70 % are used. Without it the table works on demand.',
    ),
    registrationNumber: withDefault(
      integer(0, 1_000_000),
      0,
      'Another number makes the next deploy register every cluster again.',
    ),
    vpc: optional(
      checked(
        fields({
          vpcId: required(matches('the id of a VPC, vpc-…', /^vpc-[0-9a-f]+$/), 'The VPC has this id.'),
          subnetIds: required(
            list(matches('the id of a subnet, subnet-…', /^subnet-[0-9a-f]+$/)),
            'The functions are in these private subnets, which have routes to the API servers and to AWS.',
          ),
          securityGroupIds: required(
            list(matches('the id of a security group, sg-…', /^sg-[0-9a-f]+$/)),
            'The functions have these security groups, which the hub does not change.',
          ),
          httpsProxy: optional(
            proxy,
            'Sync and sweep use this proxy for all HTTPS: AWS and the API servers.',
          ),
          noProxy: withDefault(list(directHost), [], 'Sync and sweep reach these hosts without the proxy.'),
        }),
        ({ httpsProxy, noProxy }) =>
          httpsProxy === undefined && noProxy.length > 0
            ? 'noProxy is given, but httpsProxy is missing'
            : undefined,
      ),
      'Sync and sweep run in this VPC, to reach private API endpoints.',
    ),
    pageTopicArn: optional(topicArn, 'This topic receives the alarms that page.'),
    ticketTopicArn: optional(topicArn, 'This topic receives the alarms that can wait for working hours.'),
    clusterMetrics: withDefault(
      oneOf(...clusterMetricsChoices),
      'few' as const,
      "`few` keeps three metrics of each cluster, and those of trouble while there is any. `all` adds delays, events, history and upstream's gauges.",
    ),
    rollout: withDefault(
      oneOf('gradual', 'at-once'),
      'gradual' as const,
      '`gradual` shifts traffic, a tenth a minute, to new versions of the worker and rolls back on failures. `at-once` shifts all of it.',
    ),
    ...keysOf('hubKeys'),
    runbookUrl: optional(
      webPage,
      'docs/operate/runbook.md can be read at this address. Alarms link to its headings.',
    ),
  },
  'HubInput',
) as Shape<HubConfig>;
