/** The relay's part of clusters.yaml, parsed. */
import type { PodExtras } from '#infra/relay/pod.ts';

export interface RelayConfig extends PodExtras {
  readonly namespace: string;
  /** "" for none. */
  readonly priorityClassName: string;
  /** One replica leads, the others are standbys. */
  readonly replicas: number;
  readonly resyncSeconds: number;
  readonly identity: RelayIdentityConfig;
}

export type RelayIdentityConfig =
  | {
      readonly type: 'pod-identity';
      readonly clusterName: string;
      readonly association: boolean;
      readonly region?: string | undefined;
    }
  | { readonly type: 'irsa'; readonly oidcProviderArn: string }
  /**
   * `webIdentity` is true if the role trusts the cluster's tokens. Otherwise the pod gets its credentials in
   * another way.
   */
  | { readonly type: 'existing-role'; readonly roleArn: string; readonly webIdentity: boolean };
