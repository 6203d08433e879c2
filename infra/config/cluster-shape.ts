/** A cluster's part of clusters.yaml: each value's form, its default, what it means, and the sentence that describes the allowed values. */

import { X509Certificate } from 'node:crypto';
import { defaultOptInSettings, defaultSettings } from '#shared/contract/cluster-settings.ts';
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import { exportsShape } from './clusterset-shape.ts';
import type { AuthConfig, ClusterConfig } from './config.ts';
import { arn, awsRegion, dnsLabel, eksName, keyArn, matches, roleArn } from './config-values.ts';
import { relay } from './relay-config.ts';
import { byType, checked, fields, flag, integer, literal, oneOf, optional, required, type Shape, text, withDefault } from './yaml-shape.ts';

/** Fits names of stacks, and of queues, which may have 80 characters. */
const clusterId = matches('1 to 32 of a-z, 0-9 and "-", not beginning or ending with "-"', /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/);

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
    type: required(literal('eks')),
    clusterName: required(eksName, 'Name of the EKS cluster; tokens are made for it.'),
    region: optional(awsRegion, "Region of the EKS cluster; the hub's by default."),
    roleArn: optional(roleArn, "A role of the cluster's account that the hub's functions assume."),
    accessEntry: withDefault(flag, false, "Lets the hub's functions in through an access entry of EKS, in the same account and region."),
  }),
  'web-identity': fields({
    type: required(literal('web-identity')),
    audience: required(
      matches('an audience of 1 to 1000 characters', /^.{1,1000}$/),
      "Audience of AWS's outbound identity tokens that the API server's AuthenticationConfiguration accepts.",
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
        'Initial mode; `fleet-endpoints cluster` switches it later, and a deploy does not switch it back. shadow compares, active writes, paused does nothing.',
      ),
      optIn: withDefault(
        oneOf('off', 'shadow', 'active'),
        'off' as const,
        'Initial switch for Services that opt in by annotation; like mode, a deploy does not switch it back.',
      ),
      imports: withDefault(
        oneOf('off', 'shadow', 'active'),
        'off' as const,
        'Imports of Services that other clusters of the set export. shadow computes, active writes. A preview: docs/clusterset.md.',
      ),
      exports: optional(exportsShape, 'Exports that the cluster may make; nothing by default. A preview: docs/clusterset.md.'),
      region: optional(
        dnsLabel,
        'Failure domain of the cluster in a set with `silence: evictAfter`: clusters of one region may be lost together. Every cluster of the set has one, or none.',
      ),
      settings: withDefault(
        fields({
          batchPeriodSeconds: withDefault(
            integer(0, maxDelaySeconds),
            defaultSettings.batchPeriodSeconds,
            "Seconds from a pod's change to its wake-up, as endpointUpdatesBatchPeriod of kube-controller-manager.",
          ),
          maxEndpointsPerSlice: withDefault(
            integer(1, 1000),
            defaultSettings.maxEndpointsPerSlice,
            'As --max-endpoints-per-slice of kube-controller-manager.',
          ),
          endpoints: withDefault(flag, defaultSettings.endpoints, 'Runs the Endpoints controller.'),
          slices: withDefault(flag, defaultSettings.slices, 'Runs the EndpointSlice controller.'),
          historyDays: withDefault(integer(0, 90), defaultSettings.historyDays, 'Days for which the history of a service is kept; 0 keeps none.'),
          optIn: optional(
            fields({
              cleanup: withDefault(
                flag,
                defaultOptInSettings.cleanup,
                "Deletes the built-in controllers' Endpoints and slices of a Service that opts in.",
              ),
            }),
            'For Services that opt in by annotation.',
          ),
        }),
        defaultSettings,
        'Settings of the two controllers.',
      ),
      concurrency: withDefault(
        fields({
          ingest: withDefault(integer(2, 1000), concurrencyDefault.ingest, 'Concurrent batches of ingest.'),
          sync: withDefault(integer(2, 1000), concurrencyDefault.sync, 'Concurrent batches of sync.'),
        }),
        concurrencyDefault,
        'Batches handled at a time, by each function.',
      ),
      alarms: withDefault(
        oneOf('page', 'ticket'),
        'ticket' as const,
        "Severity of the alarms of the cluster's state: a silent relay, an open circuit, a closed gate.",
      ),
      api: optional(
        fields({
          url: required(apiUrl, 'Address of the API server, https://HOST[:PORT].'),
          ca: optional(certificates, 'Certificate authority of the API server; by default the public authorities. EKS needs it.'),
          auth: required(auth, 'Credentials of the hub.'),
        }),
        'API server of the cluster. Only writing needs it.',
      ),
      relay: required(relay, 'The relay, which runs in the cluster.'),
    },
    'ClusterInput',
  ),
  ({ mode, optIn, imports, exports, api, relay: pod }) => {
    if (imports === 'active' && !api) return 'imports is active, but there is no api to write to: off and shadow are allowed without one';
    if (exports?.namespaces?.includes(pod?.namespace ?? ''))
      return `exports.namespaces has ${JSON.stringify(pod.namespace)}, the relay's own namespace, which is never exported`;
    if (optIn === 'active' && !api) return 'optIn is active, but there is no api to write to: off and shadow are allowed without one';
    if (mode === 'active' && !api) return 'mode is active, but there is no api to write to: shadow and paused are allowed without one';
    if (mode === 'active' && api?.auth?.type === 'eks')
      return "mode is active, but EKS's own endpoint controllers can't be switched off: shadow and paused are allowed, and optIn: active writes Services that opt in beside them";
    return authorityMissing(api);
  },
);

/** No public authority signs the certificate of an EKS API server. Its cluster has an authority of its own (describe-cluster, certificateAuthority). */
function authorityMissing(api: ClusterConfig['api']): string | undefined {
  if (api?.auth?.type !== 'eks' || api.ca) return undefined;
  const { clusterName, region, roleArn } = api.auth;
  const command = `aws eks describe-cluster --name ${clusterName}${region ? ` --region ${region}` : ''} --query cluster.certificateAuthority.data --output text`;
  return `api.ca is missing, and an EKS cluster's certificate authority is its own: give what this prints${roleArn ? " with credentials of the cluster's account" : ''}: ${command}`;
}
