/** The relay's part of clusters.yaml. */

import { criticalPriority } from '#infra/relay/pod.ts';
import { arn, awsRegion, dnsLabel, eksName, matches, roleArn } from './config-values.ts';
import { brokenExtras, extraEnv, extraVolumeMounts, extraVolumes, sidecars } from './relay-pod-config.ts';
import type { RelayConfig, RelayIdentityConfig } from './relay-values.ts';
import { byType, checked, fields, flag, integer, literal, optional, required, type Shape, withDefault } from './yaml-shape.ts';

export type { RelayConfig, RelayIdentityConfig } from './relay-values.ts';

/** Returns true if the relay authenticates to AWS by a token of its ServiceAccount. */
export const projectsToken = ({ identity: known }: Pick<RelayConfig, 'identity'>): boolean =>
  known.type === 'irsa' || (known.type === 'existing-role' && known.webIdentity);

const identity = byType({
  'pod-identity': fields({
    type: required(literal('pod-identity')),
    clusterName: required(eksName, 'Name of the EKS cluster.'),
    association: withDefault(flag, true, 'The stack makes the association; otherwise you make it.'),
    region: optional(awsRegion, "Region of the cluster, if it is not the hub's region."),
  }),
  irsa: fields({
    type: required(literal('irsa')),
    oidcProviderArn: required(arn('iam', 'an OIDC provider'), "The provider that issues the cluster's tokens."),
  }),
  'existing-role': fields({
    type: required(literal('existing-role')),
    roleArn: required(roleArn, 'ARN of the role; it may be in another account.'),
    webIdentity: withDefault(flag, false, "The role trusts the cluster's tokens; otherwise the pod gets its credentials in another way."),
  }),
}) as Shape<RelayIdentityConfig>;

export const relay: Shape<RelayConfig> = checked(
  fields(
    {
      namespace: withDefault(dnsLabel, 'fleet-endpoints', 'Namespace of the relay in the cluster.'),
      replicas: withDefault(integer(1, 3), 2, 'Replicas of the relay: one leads, the others are standbys on other nodes.'),
      resyncSeconds: withDefault(integer(60, 86_400), 1800, 'Seconds between two full lists.'),
      identity: required(identity, 'Identity of the relay in AWS.'),
      priorityClassName: withDefault(
        matches('the name of a PriorityClass, or "" for none', /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$/),
        criticalPriority,
        'PriorityClass of its pods.',
      ),
      extraEnv: withDefault(extraEnv, [], 'Further environment variables of its container, as in a Pod.'),
      extraVolumes: withDefault(extraVolumes, [], 'Further volumes of its pod.'),
      extraVolumeMounts: withDefault(extraVolumeMounts, [], 'Further volume mounts of its container.'),
      sidecars: withDefault(sidecars, [], 'Further containers of its pod.'),
    },
    'RelayInput',
  ),
  (read) => brokenExtras(read, projectsToken(read)),
);
