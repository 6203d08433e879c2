import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { arn, eksName, matches, roleArn } from './config-values.ts';
import { type RelayConfig, relay } from './relay-config.ts';
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
  readYaml,
  required,
  type Shape,
  text,
  unique,
  withDefault,
} from './yaml-shape.ts';

/** One installation: a hub and the clusters it serves (clusters.example.yaml explains each key). */
export interface Config {
  readonly hub: HubConfig;
  readonly clusters: readonly ClusterConfig[];
}

export interface HubConfig {
  /** Begins the name of every stack, so that two hubs can live in one account. */
  readonly name: string;
  readonly account?: string | undefined;
  readonly region?: string | undefined;
  readonly logRetentionDays: number;
  /** Concurrent executions that the account allows in the region: an alarm rings at four fifths. */
  readonly lambdaConcurrencyLimit: number;
  /** Keep executions for sweep and register, where the account has 100 more than those. */
  readonly reserveConcurrency: boolean;
  /** Raised, it makes the next deploy register every cluster again, though nothing else of their stacks changed. */
  readonly registrationEpoch: number;
  readonly vpc?: VpcConfig | undefined;
  readonly alarms: { readonly pageTopicArn?: string | undefined; readonly ticketTopicArn?: string | undefined };
  readonly tracing: boolean;
  /** Of the whole account, in US dollars. */
  readonly monthlyBudget?: number | undefined;
  /** How a new version of ingest and sync takes over: in steps of a tenth a minute, sent back by alarms; or at once, whatever rings. */
  readonly rollout: 'gradual' | 'at-once';
  /** Of docs/runbook.md, where the person on call can open it: alarms link to its headings. */
  readonly runbookUrl?: string | undefined;
}

/** Where sync and sweep run, for clusters with private API endpoints. */
export interface VpcConfig {
  readonly vpcId: string;
  readonly subnetIds: readonly string[];
  readonly securityGroupIds: readonly string[];
}

export interface ClusterConfig {
  readonly id: string;
  /** The first one; `npm run cluster` switches it later, and a deploy does not switch it back. */
  readonly mode: 'shadow' | 'active' | 'paused';
  readonly settings: {
    readonly batchPeriodSeconds: number;
    readonly maxEndpointsPerSlice: number;
    readonly endpoints: boolean;
    readonly slices: boolean;
  };
  /** Batches handled at a time, of each function. */
  readonly concurrency: { readonly ingest: number; readonly sync: number };
  /** What the alarms of the cluster's state (RelaySilent, CircuitOpen, GateClosed) do. */
  readonly alarms: 'page' | 'ticket';
  readonly api?: ApiConfig | undefined;
  readonly relay: RelayConfig;
}

export interface ApiConfig {
  readonly url: string;
  readonly ca?: string | undefined;
  readonly auth: AuthConfig;
}

export type AuthConfig =
  | {
      readonly type: 'eks';
      readonly clusterName: string;
      readonly region?: string | undefined;
      readonly roleArn?: string | undefined;
      readonly accessEntry: boolean;
    }
  | { readonly type: 'web-identity'; readonly audience: string }
  | { readonly type: 'secret'; readonly secretArn: string };

export function loadConfig(file: string): Config {
  let yaml: string;
  try {
    yaml = readFileSync(file, 'utf8');
  } catch (e) {
    throw new Error(`no clusters file at ${file}: copy clusters.example.yaml to clusters.yaml, or give another file with -c clusters=FILE`, {
      cause: e,
    });
  }
  return parseConfig(file, yaml);
}

export const parseConfig = (file: string, yaml: string): Config => readYaml(file, yaml, configShape);

/** CloudFormation puts the id into names of stacks and queues, and cuts those at 80 characters. */
const clusterId = matches('1 to 32 of a-z, 0-9 and "-", not beginning or ending with "-"', /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/);
const awsRegion = matches('a region such as eu-central-1', /^[a-z]{2}(-[a-z]+)+-[0-9]$/);

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
  secret: fields({ type: required(literal('secret')), secretArn: required(arn('secretsmanager', 'a secret')) }),
}) as Shape<AuthConfig>;

const settingsDefault = { batchPeriodSeconds: 0, maxEndpointsPerSlice: 100, endpoints: true, slices: true };
const concurrencyDefault = { ingest: 10, sync: 20 };

const cluster: Shape<ClusterConfig> = checked(
  fields({
    id: required(clusterId),
    mode: withDefault(oneOf('shadow', 'active', 'paused'), 'shadow' as const),
    settings: withDefault(
      fields({
        batchPeriodSeconds: withDefault(integer(0, 900), settingsDefault.batchPeriodSeconds),
        maxEndpointsPerSlice: withDefault(integer(1, 1000), settingsDefault.maxEndpointsPerSlice),
        endpoints: withDefault(flag, settingsDefault.endpoints),
        slices: withDefault(flag, settingsDefault.slices),
      }),
      settingsDefault,
    ),
    concurrency: withDefault(
      fields({ ingest: withDefault(integer(2, 1000), concurrencyDefault.ingest), sync: withDefault(integer(2, 1000), concurrencyDefault.sync) }),
      concurrencyDefault,
    ),
    alarms: withDefault(oneOf('page', 'ticket'), 'ticket' as const),
    api: optional(fields({ url: required(apiUrl), ca: optional(certificates), auth: required(auth) })),
    relay: required(relay),
  }),
  ({ mode, api }) => {
    if (mode !== 'active') return undefined;
    if (!api) return 'mode is active, but there is no api to write to: shadow and paused are allowed without one';
    if (api.auth?.type === 'eks') return "mode is active, but EKS's own endpoint controllers can't be switched off: shadow and paused are allowed";
    return undefined;
  },
);

const noTopics = { pageTopicArn: undefined, ticketTopicArn: undefined };

const toldOfBudget = ({ monthlyBudget, alarms }: Pick<HubConfig, 'monthlyBudget' | 'alarms'>): string | undefined =>
  monthlyBudget !== undefined && !alarms.ticketTopicArn ? 'monthlyBudget is given, but no alarms.ticketTopicArn to tell it to' : undefined;

const configShape: Shape<Config> = fields({
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

const retentionDays: readonly number[] = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653];
