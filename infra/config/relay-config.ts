/** The relay's part of clusters.yaml. */

import { criticalPriority } from '#infra/relay/pod.ts';
import { arn, asCdk, awsRegion, dnsLabel, eksName, matches, roleArn, seconds } from './config-values.ts';
import { brokenExtras, extraEnv, extraVolumeMounts, extraVolumes, sidecars } from './relay-pod-config.ts';
import type { RelayConfig, RelayIdentityConfig } from './relay-values.ts';
import { checked } from './yaml/yaml-rules.ts';
import {
  byType,
  fields,
  flag,
  integer,
  literal,
  optional,
  required,
  type Shape,
  withDefault,
} from './yaml/yaml-shape.ts';

export type { RelayConfig, RelayIdentityConfig } from './relay-values.ts';

/** Returns true if the relay authenticates to AWS by a token of its ServiceAccount. */
export const projectsToken = ({ identity: known }: Pick<RelayConfig, 'identity'>): boolean =>
  known.type === 'irsa' || (known.type === 'existing-role' && known.webIdentity);

const identity = byType({
  'pod-identity': fields({
    type: required(literal('pod-identity'), 'EKS Pod Identity gives the relay its role.'),
    clusterName: required(eksName, 'The EKS cluster has this name.'),
    association: withDefault(flag, true, 'The stack makes the association. With false you make it.'),
    region: optional(awsRegion, "The EKS cluster is in this region; without it, in the hub's."),
  }),
  irsa: fields({
    type: required(literal('irsa'), 'AWS STS gives the relay its role for a token of its ServiceAccount.'),
    oidcProviderArn: required(
      asCdk(arn('iam', 'an OIDC provider'), {
        type: 'iam.IOpenIdConnectProvider',
        member: 'openIdConnectProviderArn',
      }),
      "This provider issues the cluster's tokens.",
    ),
  }),
  'existing-role': fields({
    type: required(literal('existing-role'), 'The relay has a role that exists already.'),
    roleArn: required(roleArn, 'The relay has this role, which may be of another account.'),
    webIdentity: withDefault(
      flag,
      false,
      "The role trusts the cluster's tokens. With false the pod gets its credentials in another way.",
    ),
  }),
}) as Shape<RelayIdentityConfig>;

export const relay: Shape<RelayConfig> = checked(
  fields(
    {
      namespace: withDefault(dnsLabel, 'fleet-endpoints', 'The relay runs in this namespace.'),
      replicas: withDefault(
        integer(1, 3),
        2,
        'This number of relays runs: one leads, the others are standbys on other nodes.',
      ),
      resyncSeconds: withDefault(
        seconds(60, 86_400),
        1800,
        'The relay lists all objects again after this time.',
      ),
      identity: required(identity, 'The relay has this identity in AWS.'),
      priorityClassName: withDefault(
        matches('the name of a PriorityClass, or "" for none', /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$/),
        criticalPriority,
        "The relay's pods have this PriorityClass.",
      ),
      extraEnv: withDefault(
        extraEnv,
        [],
        "The relay's container has these further environment variables, in the form of a Pod.",
      ),
      extraVolumes: withDefault(extraVolumes, [], "The relay's pod has these further volumes."),
      extraVolumeMounts: withDefault(
        extraVolumeMounts,
        [],
        "The relay's container has these further volume mounts.",
      ),
      sidecars: withDefault(sidecars, [], "The relay's pod has these further containers."),
    },
    'RelayInput',
  ),
  (read) => brokenExtras(read, projectsToken(read)),
);
