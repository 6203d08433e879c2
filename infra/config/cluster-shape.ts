/** A cluster's part of clusters.yaml: each value's form, its default, what it means, and the sentence that describes the allowed values. */

import { X509Certificate } from 'node:crypto';
import { defaultOptInSettings, defaultSettings } from '#shared/contract/cluster-settings.ts';
import { longestDelaySeconds } from '#shared/contract/sqs-limits.ts';
import { exportsShape } from './clusterset-shape.ts';
import type { AuthConfig, ClusterConfig } from './config.ts';
import { arn, awsRegion, eksName, keyArn, matches, queueNames, roleArn } from './config-values.ts';
import { relay } from './relay-config.ts';
import { byType, checked, fields, flag, integer, literal, oneOf, optional, required, type Shape, text, withDefault } from './yaml-shape.ts';

/** Fits names of stacks, and of queues, which may have 80 characters. */
const clusterId = matches('1 to 32 of a-z, 0-9 and "-", not beginning or ending with "-"', /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/);

const apiUrl = text('https://HOST[:PORT] without path, user or query', (value) => {
  if (!URL.canParse(value)) return false;
  const { protocol, pathname, search, hash, username, password, origin } = new URL(value);
  return protocol === 'https:' && pathname === '/' && !search && !hash && !username && !password && origin;
});

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
    clusterName: required(eksName, 'Of EKS; the token is for it.'),
    region: optional(awsRegion, "Of the EKS cluster; the hub's by default."),
    roleArn: optional(roleArn, "A role of the cluster's account that the hub's functions assume."),
    accessEntry: withDefault(flag, false, "Lets the hub's functions in through an access entry of EKS, in the same account and region."),
  }),
  'web-identity': fields({
    type: required(literal('web-identity')),
    audience: required(
      matches('an audience of 1 to 1000 characters', /^.{1,1000}$/),
      "What the API server's AuthenticationConfiguration accepts of AWS's outbound identity tokens.",
    ),
  }),
  secret: fields({
    type: required(literal('secret')),
    secretArn: required(arn('secretsmanager', 'a secret'), 'A secret in JSON: a token, or a client certificate with its key. Never a kubeconfig.'),
    kmsKeyArn: optional(keyArn, 'The key of your own that encrypts the secret.'),
  }),
}) as Shape<AuthConfig>;

const concurrencyDefault = { ingest: 10, sync: 20 };

export const clusterShape: Shape<ClusterConfig> = checked(
  fields(
    {
      id: required(clusterId, 'Names stacks and queues; it stays.'),
      mode: withDefault(
        oneOf('shadow', 'active', 'paused'),
        'shadow' as const,
        'The first one; `fleet-endpoints cluster` switches it later, and a deploy does not switch it back. shadow compares, active writes, paused does nothing.',
      ),
      optIn: withDefault(oneOf('off', 'shadow', 'active'), 'off' as const, 'The first one, as the mode: for Services that opt in by annotation.'),
      imports: withDefault(
        oneOf('off', 'shadow', 'active'),
        'off' as const,
        'Of Services that other clusters of the set export. shadow computes, active writes. A preview: docs/clusterset.md.',
      ),
      exports: optional(exportsShape, 'What the cluster may export to the others of the set; nothing by default. A preview: docs/clusterset.md.'),
      settings: withDefault(
        fields({
          batchPeriodSeconds: withDefault(
            integer(0, longestDelaySeconds),
            defaultSettings.batchPeriodSeconds,
            "From a pod's change to its wake-up, as endpointUpdatesBatchPeriod of kube-controller-manager.",
          ),
          maxEndpointsPerSlice: withDefault(integer(1, 1000), defaultSettings.maxEndpointsPerSlice, 'As of kube-controller-manager.'),
          endpoints: withDefault(flag, defaultSettings.endpoints, 'Runs the Endpoints controller.'),
          slices: withDefault(flag, defaultSettings.slices, 'Runs the EndpointSlice controller.'),
          historyDays: withDefault(integer(0, 90), defaultSettings.historyDays, 'How long the history of a service is kept; 0 keeps none.'),
          optIn: optional(
            fields({
              cleanup: withDefault(flag, defaultOptInSettings.cleanup, 'What the built-in controllers left of a Service that opts in is deleted.'),
              handoverSeconds: withDefault(
                integer(0, 3600),
                defaultOptInSettings.handoverSeconds,
                'How long our slices may stay when a Service no longer opts in and the built-in controllers serve less.',
              ),
            }),
            'For Services that opt in by annotation.',
          ),
        }),
        defaultSettings,
        'What the two controllers do.',
      ),
      queueNames: optional(queueNames, "Names of this cluster's queues; those of the hub by default."),
      concurrency: withDefault(
        fields({
          ingest: withDefault(integer(2, 1000), concurrencyDefault.ingest, 'By ingest.'),
          sync: withDefault(integer(2, 1000), concurrencyDefault.sync, 'By sync.'),
        }),
        concurrencyDefault,
        'Batches handled at a time, by each function.',
      ),
      alarms: withDefault(
        oneOf('page', 'ticket'),
        'ticket' as const,
        "What the alarms of the cluster's state do: its silent relay, open circuit or closed gate.",
      ),
      api: optional(
        fields({
          url: required(apiUrl, 'https://HOST[:PORT].'),
          ca: optional(certificates, 'Without it the public authorities are trusted.'),
          auth: required(auth, 'How the hub gets in.'),
        }),
        'Its API server, which only writing needs.',
      ),
      relay: required(relay, 'The program in the cluster.'),
    },
    'ClusterInput',
  ),
  ({ mode, optIn, imports, exports, api, relay: pod }) => {
    if (imports === 'active' && !api) return 'imports is active, but there is no api to write to: off and shadow are allowed without one';
    if (exports?.namespaces?.includes(pod?.namespace ?? ''))
      return `exports.namespaces has ${JSON.stringify(pod.namespace)}, the relay's own namespace, which is never exported`;
    if (optIn === 'active' && !api) return 'optIn is active, but there is no api to write to: off and shadow are allowed without one';
    if (mode !== 'active') return undefined;
    if (!api) return 'mode is active, but there is no api to write to: shadow and paused are allowed without one';
    if (api.auth?.type === 'eks')
      return "mode is active, but EKS's own endpoint controllers can't be switched off: shadow and paused are allowed, and optIn: active writes Services that opt in beside them";
    return undefined;
  },
);
