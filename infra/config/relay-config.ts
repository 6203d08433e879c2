/** The relay's part of clusters.yaml. */

import { criticalPriority, type PodExtras } from '#infra/relay/pod.ts';
import { arn, awsRegion, dnsLabel, eksName, matches, roleArn } from './config-values.ts';
import { brokenExtras, extraEnv, extraVolumeMounts, extraVolumes, sidecars } from './relay-pod-config.ts';
import { byType, checked, fields, flag, integer, literal, optional, required, type Shape, withDefault } from './yaml-shape.ts';

export interface RelayConfig extends PodExtras {
  readonly namespace: string;
  /** "" for none. */
  readonly priorityClassName: string;
  /** One speaks, the others stand by. */
  readonly replicas: number;
  readonly resyncSeconds: number;
  readonly identity: RelayIdentityConfig;
}

export type RelayIdentityConfig =
  | { readonly type: 'pod-identity'; readonly clusterName: string; readonly association: boolean; readonly region?: string | undefined }
  | { readonly type: 'irsa'; readonly oidcProviderArn: string }
  /** `webIdentity`: the role trusts the cluster's tokens; else the pod gets its credentials in another way. */
  | { readonly type: 'existing-role'; readonly roleArn: string; readonly webIdentity: boolean };

/** Is the relay known to AWS by a token of its ServiceAccount? */
export const projectsToken = ({ identity: known }: Pick<RelayConfig, 'identity'>): boolean =>
  known.type === 'irsa' || (known.type === 'existing-role' && known.webIdentity);

const identity = byType({
  'pod-identity': fields({
    type: required(literal('pod-identity')),
    clusterName: required(eksName),
    association: withDefault(flag, true),
    region: optional(awsRegion),
  }),
  irsa: fields({ type: required(literal('irsa')), oidcProviderArn: required(arn('iam', 'an OIDC provider')) }),
  'existing-role': fields({ type: required(literal('existing-role')), roleArn: required(roleArn), webIdentity: withDefault(flag, false) }),
}) as Shape<RelayIdentityConfig>;

export const relay: Shape<RelayConfig> = checked(
  fields({
    namespace: withDefault(dnsLabel, 'fleet-endpoints'),
    replicas: withDefault(integer(1, 3), 2),
    resyncSeconds: withDefault(integer(60, 86_400), 1800),
    identity: required(identity),
    priorityClassName: withDefault(
      matches('the name of a PriorityClass, or "" for none', /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$/),
      criticalPriority,
    ),
    extraEnv: withDefault(extraEnv, []),
    extraVolumes: withDefault(extraVolumes, []),
    extraVolumeMounts: withDefault(extraVolumeMounts, []),
    sidecars: withDefault(sidecars, []),
  }),
  (read) => (Object.values(read).includes(undefined as never) ? undefined : brokenExtras(read, projectsToken(read))),
);
