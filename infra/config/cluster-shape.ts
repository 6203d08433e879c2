/**
 * A cluster's part of clusters.yaml: each value's form, its default, what it means, and the sentence that
 * describes the allowed values.
 */

import { X509Certificate } from 'node:crypto';
import { defaultSettings, zonalShiftChoices } from '#shared/contract/cluster-settings.ts';
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import type { AuthConfig, ClusterConfig, Labels } from './config.ts';
import { arn, asCdk, awsRegion, days, eksName, keyArn, matches, roleArn, seconds } from './config-values.ts';
import { relay } from './relay-config.ts';
import { configParts, keysOf } from './wing.ts';
import { checked, mapping, unique } from './yaml/yaml-rules.ts';
import {
  byType,
  fields,
  flag,
  integer,
  known,
  list,
  literal,
  oneOf,
  optional,
  required,
  type Shape,
  shape,
  text,
  withDefault,
} from './yaml/yaml-shape.ts';

/** Fits names of stacks, and of queues, which may have 80 characters. */
const clusterId = known(
  matches(
    '1 to 32 of a-z, 0-9 and "-", not beginning or ending with "-"',
    /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/,
  ),
);

const apiUrl = text('https://HOST[:PORT] without path, user or query', (value) => {
  if (!URL.canParse(value)) return false;
  const { protocol, pathname, search, hash, username, password, origin } = new URL(value);
  return protocol === 'https:' && pathname === '/' && !search && !hash && !username && !password && origin;
});

/** Accepts PEM, or its base64 as in kubeconfig files and EKS. The value is PEM. */
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
    type: required(literal('eks'), "EKS knows the hub's functions by their roles."),
    clusterName: required(eksName, 'The EKS cluster has this name. Tokens are made for it.'),
    region: optional(awsRegion, "The EKS cluster is in this region; without it, in the hub's."),
    roleArn: optional(roleArn, "The hub's functions assume this role of the cluster's account."),
    accessEntry: withDefault(
      flag,
      false,
      "An access entry of EKS lets the hub's functions in. The cluster must be in the hub's account and region.",
    ),
  }),
  'web-identity': fields({
    type: required(
      literal('web-identity'),
      "Tokens of AWS's outbound web identity authenticate the hub's functions.",
    ),
    audience: required(
      matches('an audience of 1 to 1000 characters', /^.{1,1000}$/),
      "The tokens have this audience, which the API server's AuthenticationConfiguration accepts.",
    ),
  }),
  secret: fields({
    type: required(literal('secret'), 'A secret in Secrets Manager has the credentials.'),
    secretArn: required(
      asCdk(arn('secretsmanager', 'a secret'), { type: 'secretsmanager.ISecret', member: 'secretArn' }),
      'This secret is JSON with a token, or with a client certificate and its key. A kubeconfig is refused.',
    ),
    kmsKeyArn: optional(keyArn, 'This KMS key of your own encrypts the secret.'),
  }),
}) as Shape<AuthConfig>;

const labels = mapping('a mapping of at most 20 names to texts', (value) => {
  const wrong = ([name, text]: [string, unknown]) =>
    ![name, text].every((each) => typeof each === 'string' && /^[\w./-]{1,63}$/.test(each));
  const needed = 'name and text of a label need 1 to 63 letters, digits, ".", "_", "/" or "-" each';
  const problems = Object.entries(value)
    .filter(wrong)
    .map(([name, text]) => `${name} is ${JSON.stringify(text)}: ${needed}`);
  return Object.keys(value).length > 20
    ? [`${Object.keys(value).length} labels are given: at most 20 are allowed`]
    : problems;
}) as Shape<Labels>;

type Concurrency = ClusterConfig['concurrency'];

/** A hundred clusters in shadow mode fit into four fifths of an account's usual quota, 1,000 executions. */
export const concurrencyDefault: { readonly [M in 'active' | 'others']: Concurrency } = {
  active: { ingest: 10, sync: 20 },
  others: { ingest: 4, sync: 4 },
};

interface ClusterGiven extends Omit<ClusterConfig, 'concurrency'> {
  readonly concurrency?: Partial<Concurrency>;
}

/** The default depends on the mode. */
const withConcurrency = (given: Shape<ClusterGiven>): Shape<ClusterConfig> =>
  shape(given.schema, (node, at) => {
    const cluster = given(node, at);
    if (!cluster) return undefined;
    const usual = concurrencyDefault[cluster.mode === 'active' ? 'active' : 'others'];
    return { ...cluster, concurrency: { ...usual, ...cluster.concurrency } };
  });

export const clusterShape: Shape<ClusterConfig> = checked(
  withConcurrency(
    fields(
      {
        id: required(clusterId, 'The id names the stack and the queues of the cluster. It can never change.'),
        labels: withDefault(
          labels,
          {},
          'The console groups clusters by these labels, for example `env: prod`.',
        ),
        mode: withDefault(
          oneOf('shadow', 'active', 'paused'),
          'shadow' as const,
          'The cluster begins in this mode: `shadow` compares, `active` writes, `paused` does nothing. `fleet-endpoints cluster` switches it later, and a deploy does not switch it back.',
        ),
        optIn: withDefault(
          oneOf('off', 'shadow', 'active'),
          'off' as const,
          'The cluster begins with this mode for Services that opt in by annotation. As with mode, a deploy does not switch it back.',
        ),
        ...keysOf('clusterKeys'),
        settings: withDefault(
          fields({
            batchPeriodSeconds: withDefault(
              seconds(0, maxDelaySeconds),
              defaultSettings.batchPeriodSeconds,
              "A pod's change wakes its Services after this time, as with endpointUpdatesBatchPeriod of kube-controller-manager.",
            ),
            maxEndpointsPerSlice: withDefault(
              integer(1, 1000),
              defaultSettings.maxEndpointsPerSlice,
              'A slice has at most this number of endpoints, as with --max-endpoints-per-slice of kube-controller-manager.',
            ),
            controllers: withDefault(
              unique(list(oneOf('endpoints', 'slices')), 'controller', (name) => name),
              defaultSettings.controllers,
              'The hub runs these controllers: `endpoints`, `slices`, both or none.',
            ),
            historyDays: withDefault(
              days(0, 90),
              defaultSettings.historyDays,
              'The history of a Service is kept for this time; 0 keeps none.',
            ),
            optInCleanup: withDefault(
              flag,
              defaultSettings.optInCleanup,
              "The hub deletes the built-in controllers' Endpoints and slices of a Service that opts in.",
            ),
            zonalShift: withDefault(
              oneOf(...zonalShiftChoices),
              defaultSettings.zonalShift,
              'With `follow` the pods of a zone leave the endpoints that the hub writes during a zonal shift of the EKS cluster; with `ignore` they stay.',
            ),
          }),
          defaultSettings,
          'The two controllers have these settings.',
        ),
        concurrency: optional(
          fields({
            ingest: optional(
              integer(2, 1000),
              'The worker handles at most this number of batches of events at a time: 10 by default with `mode: active`, otherwise 4.',
            ),
            sync: optional(
              integer(2, 1000),
              'The worker handles at most this number of batches of wake-ups at a time: 20 by default with `mode: active`, otherwise 4.',
            ),
          }),
          'Each of the two queues of the cluster has a limited number of batches under way at a time, so a backlog of one leaves the other its own.',
        ),
        alarms: withDefault(
          oneOf('page', 'ticket'),
          'ticket' as const,
          "The alarms of the cluster's state have this severity: a silent relay, an open circuit, missing first lists.",
        ),
        api: optional(
          fields({
            url: required(apiUrl, 'The API server has this address.'),
            ca: optional(
              certificates,
              "This authority signs the API server's certificate; without it, a public authority does. EKS needs it.",
            ),
            auth: required(auth, 'The hub has these credentials.'),
          }),
          'The hub reaches the API server of the cluster here. Writing and exports need it.',
        ),
        relay: required(relay, 'The relay runs in the cluster with these settings.'),
      },
      'ClusterInput',
    ) as Shape<ClusterGiven>,
  ),
  (cluster) => {
    const { mode, optIn, api } = cluster;
    const broken = configParts.map((part) => part.brokenKeys(cluster)).find((why) => why !== undefined);
    if (broken) return broken;
    if (optIn === 'active' && !api)
      return 'optIn is active, but there is no api to write to: off and shadow are allowed without one';
    if (mode === 'active' && !api)
      return 'mode is active, but there is no api to write to: shadow and paused are allowed without one';
    if (mode === 'active' && api?.auth?.type === 'eks')
      return "mode is active, but EKS's own endpoint controllers can't be switched off: shadow and paused are allowed, and optIn: active writes Services that opt in beside them";
    if (api?.auth?.type === 'eks' && api.auth.accessEntry && api.auth.roleArn)
      return 'api.auth has accessEntry: true and roleArn: access entries let in the roles of the hub itself. Leave accessEntry out, and make an access entry for the role in its own account';
    return authorityMissing(api);
  },
);

/**
 * No public authority signs the certificate of an EKS API server. Its cluster has an authority of its own
 * (describe-cluster, certificateAuthority).
 */
function authorityMissing(api: ClusterConfig['api']): string | undefined {
  if (api?.auth?.type !== 'eks' || api.ca) return undefined;
  const { clusterName, region, roleArn } = api.auth;
  const command = `aws eks describe-cluster --name ${clusterName}${region ? ` --region ${region}` : ''} --query cluster.certificateAuthority.data --output text`;
  return `api.ca is missing, and an EKS cluster's certificate authority is its own: give what this prints${roleArn ? " with credentials of the cluster's account" : ''}: ${command}`;
}
