/** The shape of clusters.yaml: each value's form, its default, and the sentence that describes the allowed values. */

import { X509Certificate } from 'node:crypto';
import { defaultOptInSettings, defaultSettings } from '#shared/contract/cluster-settings.ts';
import { clusterMetricsChoices } from '#shared/contract/metrics.ts';
import { longestDelaySeconds } from '#shared/contract/sqs-limits.ts';
import type { AuthConfig, ClusterConfig, Config, HubConfig } from './config.ts';
import { brokenRule } from './config-rules.ts';
import { arn, awsRegion, eksName, matches, roleArn } from './config-values.ts';
import { relay } from './relay-config.ts';
import {
  byType,
  checked,
  fields,
  flag,
  integer,
  list,
  literal,
  oneOf,
  optional,
  required,
  type Shape,
  text,
  unique,
  withDefault,
} from './yaml-shape.ts';

/** Fits names of stacks, and of queues, which may have 80 characters. */
const clusterId = matches('1 to 32 of a-z, 0-9 and "-", not beginning or ending with "-"', /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/);
const keyArn = matches('the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/…', /^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key\/.+$/);
/** With * for what differs. */
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
const queueNames = oneOf('fixed', 'generated');

const apiUrl = text('https://HOST[:PORT] without path, user or query', (value) => {
  if (!URL.canParse(value)) return false;
  const { protocol, pathname, search, hash, username, password, origin } = new URL(value);
  return protocol === 'https:' && pathname === '/' && !search && !hash && !username && !password && origin;
});

const webPage = text('the address of a page, https://… without a #fragment', (value) => URL.canParse(value) && /^https?:\/\/[^#]+$/.test(value));

/** PEM, or its base64 as kubeconfig files and EKS have it; PEM comes out. */
const certificates = text('one or more certificates in PEM, or the base64 of that', (value) => {
  const pem = value.includes('-----BEGIN') ? value : Buffer.from(value, 'base64').toString();
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (!blocks) return false;
  try {
    for (const block of blocks) new X509Certificate(block);
  } catch {
    return false;
  }
  return `${blocks.join('\n')}\n`;
});

const auth = byType({
  eks: fields({
    type: required(literal('eks')),
    clusterName: required(eksName),
    region: optional(awsRegion),
    roleArn: optional(roleArn),
    accessEntry: withDefault(flag, false),
  }),
  'web-identity': fields({
    type: required(literal('web-identity')),
    audience: required(matches('an audience of 1 to 1000 characters', /^.{1,1000}$/)),
  }),
  secret: fields({ type: required(literal('secret')), secretArn: required(arn('secretsmanager', 'a secret')), kmsKeyArn: optional(keyArn) }),
}) as Shape<AuthConfig>;

const concurrencyDefault = { ingest: 10, sync: 20 };

const cluster: Shape<ClusterConfig> = checked(
  fields({
    id: required(clusterId),
    mode: withDefault(oneOf('shadow', 'active', 'paused'), 'shadow' as const),
    optIn: withDefault(oneOf('off', 'shadow', 'active'), 'off' as const),
    settings: withDefault(
      fields({
        batchPeriodSeconds: withDefault(integer(0, longestDelaySeconds), defaultSettings.batchPeriodSeconds),
        maxEndpointsPerSlice: withDefault(integer(1, 1000), defaultSettings.maxEndpointsPerSlice),
        endpoints: withDefault(flag, defaultSettings.endpoints),
        slices: withDefault(flag, defaultSettings.slices),
        historyDays: withDefault(integer(0, 90), defaultSettings.historyDays),
        optIn: optional(
          fields({
            cleanup: withDefault(flag, defaultOptInSettings.cleanup),
            handoverSeconds: withDefault(integer(0, 3600), defaultOptInSettings.handoverSeconds),
          }),
        ),
      }),
      defaultSettings,
    ),
    queueNames: optional(queueNames),
    concurrency: withDefault(
      fields({ ingest: withDefault(integer(2, 1000), concurrencyDefault.ingest), sync: withDefault(integer(2, 1000), concurrencyDefault.sync) }),
      concurrencyDefault,
    ),
    alarms: withDefault(oneOf('page', 'ticket'), 'ticket' as const),
    api: optional(fields({ url: required(apiUrl), ca: optional(certificates), auth: required(auth) })),
    relay: required(relay),
  }),
  ({ mode, optIn, api }) => {
    if (optIn === 'active' && !api) return 'optIn is active, but there is no api to write to: off and shadow are allowed without one';
    if (mode !== 'active') return undefined;
    if (!api) return 'mode is active, but there is no api to write to: shadow and paused are allowed without one';
    if (api.auth?.type === 'eks')
      return "mode is active, but EKS's own endpoint controllers can't be switched off: shadow and paused are allowed, and optIn: active writes Services that opt in beside them";
    return undefined;
  },
);

const awsOwnedKeys = { table: undefined, queues: undefined, logs: undefined };
const noTopics = { pageTopicArn: undefined, ticketTopicArn: undefined };

const toldOfBudget = ({ monthlyBudget, alarms }: Pick<HubConfig, 'monthlyBudget' | 'alarms'>): string | undefined =>
  monthlyBudget !== undefined && !alarms.ticketTopicArn ? 'monthlyBudget is given, but no alarms.ticketTopicArn to tell it to' : undefined;

const fleet = fields({
  hub: required(
    checked(
      fields({
        name: withDefault(matches('1 to 20 letters and digits, beginning with a letter', /^[A-Za-z][A-Za-z0-9]{0,19}$/), 'FleetEndpoints'),
        account: optional(matches('an account id of 12 digits, in quotes', /^[0-9]{12}$/)),
        region: optional(awsRegion),
        logRetentionDays: withDefault(
          checked(integer(1, 3653), (days) =>
            retentionDays.includes(days) ? undefined : `${days} is not a retention that CloudWatch Logs has: ${retentionDays.join(', ')} are allowed`,
          ),
          14,
        ),
        lambdaConcurrencyLimit: withDefault(integer(10, 1_000_000), 1000),
        reserveConcurrency: withDefault(flag, false),
        operatorRoleArns: withDefault(operatorRoles, []),
        queueNames: withDefault(queueNames, 'generated' as const),
        access: withDefault(
          fields({ secrets: withDefault(list(arnPattern('secretsmanager', 'secrets')), []), roles: withDefault(list(rolePattern), []) }),
          { secrets: [], roles: [] },
        ),
        encryption: withDefault(fields({ table: optional(keyArn), queues: optional(keyArn), logs: optional(keyArn) }), awsOwnedKeys),
        warmThroughput: optional(fields({ reads: required(integer(12_000, 10_000_000)), writes: required(integer(4_000, 10_000_000)) })),
        registrationEpoch: withDefault(integer(0, 1_000_000), 0),
        vpc: optional(
          fields({
            vpcId: required(matches('the id of a VPC, vpc-…', /^vpc-[0-9a-f]+$/)),
            subnetIds: required(list(matches('the id of a subnet, subnet-…', /^subnet-[0-9a-f]+$/))),
            securityGroupIds: required(list(matches('the id of a security group, sg-…', /^sg-[0-9a-f]+$/))),
          }),
        ),
        alarms: withDefault(fields({ pageTopicArn: optional(arn('sns', 'a topic')), ticketTopicArn: optional(arn('sns', 'a topic')) }), noTopics),
        tracing: withDefault(flag, false),
        clusterMetrics: withDefault(oneOf(...clusterMetricsChoices), 'few' as const),
        monthlyBudget: optional(integer(1, 10_000_000)),
        rollout: withDefault(oneOf('gradual', 'at-once'), 'gradual' as const),
        runbookUrl: optional(webPage),
      }),
      toldOfBudget,
    ),
  ),
  clusters: withDefault(
    unique(list(cluster), 'id', (c) => c.id),
    [],
  ),
}) as Shape<Config>;

export const configShape: Shape<Config> = checked(fleet, brokenRule);

const retentionDays: readonly number[] = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653];
