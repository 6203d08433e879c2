/** The props of the constructs: what clusters.yaml has. Made from infra/config by `npm run props`; test/infra/props.test.ts compares. */

import type { Duration } from 'aws-cdk-lib';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import type * as sns from 'aws-cdk-lib/aws-sns';

export interface HubInput {
  /** CloudWatch Logs keeps the functions' logs for this time. @default 14 days */
  readonly logRetention?: logs.RetentionDays;
  /** The account allows this number of concurrent Lambda executions. The concurrency of all clusters may add up to four fifths of it. @default 1000 */
  readonly lambdaConcurrencyLimit?: number;
  /** These roles may send to the queues, besides relays and functions: their people run `redrive` and `cluster`. @default [] */
  readonly operatorRoleArns?: readonly string[];
  /** The ARNs of the secrets and roles of clusters match these patterns. Hundreds of clusters need them, and clusters whose stacks are in other apps. @default [] */
  readonly access?: readonly string[];
  /** KMS keys of your own encrypt table, queues and logs. Without them AWS's own keys do. */
  readonly encryption?: {
    /** This KMS key encrypts the table. The region of the hub must be known. */
    readonly table?: kms.IKey | string;
    /** This KMS key encrypts the queues. */
    readonly queues?: kms.IKey | string;
    /** This KMS key encrypts the logs. Its policy must admit CloudWatch Logs. */
    readonly logs?: kms.IKey | string;
  };
  /** Auto scaling provisions units a second for the table, and again for its index, so that 70 % are used. Without it the table works on demand. */
  readonly capacity?: {
    /** At least this number of read units a second is provisioned. */
    readonly minReads: number;
    /** At most this number of read units a second is provisioned. */
    readonly maxReads: number;
    /** At least this number of write units a second is provisioned. */
    readonly minWrites: number;
    /** At most this number of write units a second is provisioned. */
    readonly maxWrites: number;
  };
  /** Another number makes the next deploy register every cluster again. @default 0 */
  readonly registrationNumber?: number;
  /** This topic receives the alarms that page. */
  readonly pageTopic?: sns.ITopic;
  /** The ARN may be given instead of pageTopic. */
  readonly pageTopicArn?: string;
  /** This topic receives the alarms that can wait for working hours. */
  readonly ticketTopic?: sns.ITopic;
  /** The ARN may be given instead of ticketTopic. */
  readonly ticketTopicArn?: string;
  /** `few` keeps three metrics of each cluster, and those of trouble while there is any. `all` adds delays, events, history and upstream's gauges. @default "few" */
  readonly clusterMetrics?: 'few' | 'all';
  /** `gradual` shifts traffic, a tenth a minute, to new versions of the worker and rolls back on failures. `at-once` shifts all of it. @default "gradual" */
  readonly rollout?: 'gradual' | 'at-once';
  /** All exporters and importers of Services share these settings. They are a preview (docs/use/clusterset.md). */
  readonly clusterset?: {
    /** The set has this name. A namespace takes imports if its label fleet-endpoints/clusterset has this value. Allowed: 1 to 63 of a-z, 0-9 and "-", not beginning or ending with "-". */
    readonly name: string;
    /** After this time of silence the endpoints of a cluster are removed from the importers, if its API does not answer either. Less than 90 s acts like 90 s. Without the key they stay. */
    readonly evictAfter?: Duration;
    /** `labelled` namespaces take imports, or `all` except default, kube-system and the like. @default "labelled" */
    readonly sameness?: 'labelled' | 'all';
  };
  /** docs/operate/runbook.md can be read at this address. Alarms link to its headings. Allowed: the address of a page, https://… without a #fragment. */
  readonly runbookUrl?: string;
}

export interface ClusterInput {
  /** The id names the stack and the queues of the cluster. It can never change. Allowed: 1 to 32 of a-z, 0-9 and "-", not beginning or ending with "-". */
  readonly id: string;
  /** The console groups clusters by these labels, for example `env: prod`. Allowed: a mapping of at most 20 names to texts. @default {} */
  readonly labels?: { readonly [key: string]: unknown };
  /** The cluster begins in this mode: `shadow` compares, `active` writes, `paused` does nothing. `fleet-endpoints cluster` switches it later, and a deploy does not switch it back. @default "shadow" */
  readonly mode?: 'shadow' | 'active' | 'paused';
  /** The cluster begins with this mode for Services that opt in by annotation. As with mode, a deploy does not switch it back. @default "off" */
  readonly optIn?: 'off' | 'shadow' | 'active';
  /** The cluster imports Services that other clusters of the set export: `shadow` computes, `active` writes. It is a preview (docs/use/clusterset.md). @default "off" */
  readonly imports?: 'off' | 'shadow' | 'active';
  /** The cluster may make these exports, and without the key none. It is a preview (docs/use/clusterset.md). */
  readonly exports?: {
    /** Services of these namespaces may be exported, or of all. [] prepares the cluster and exports nothing. */
    readonly namespaces: readonly string[] | 'all';
    /** The addresses of its pods are in these ranges. Importers accept no other address. */
    readonly podCidrs: readonly string[];
    /** Its ranges may overlap those of clusters that allow it too, such as two clusters in the same subnets. @default false */
    readonly allowOverlap?: boolean;
    /** The cluster's roles edit and admin may make ServiceExports. The API's CRDs grant that to no role. @default false */
    readonly editorsMayExport?: boolean;
  };
  /** The cluster is in this failure domain of a set with `evictAfterSeconds`: clusters of one region may be lost together. Every cluster of the set has one, or none. Allowed: 1 to 63 of a-z, 0-9 and "-", not beginning or ending with "-". */
  readonly region?: string;
  /** The two controllers have these settings. */
  readonly settings?: {
    /** A pod's change wakes its Services after this time, as with endpointUpdatesBatchPeriod of kube-controller-manager. @default Duration.seconds(0) */
    readonly batchPeriod?: Duration;
    /** A slice has at most this number of endpoints, as with --max-endpoints-per-slice of kube-controller-manager. @default 100 */
    readonly maxEndpointsPerSlice?: number;
    /** The hub runs these controllers: `endpoints`, `slices`, both or none. @default ["endpoints","slices"] */
    readonly controllers?: readonly ('endpoints' | 'slices')[];
    /** The history of a Service is kept for this time; 0 keeps none. @default Duration.days(7) */
    readonly history?: Duration;
    /** The hub deletes the built-in controllers' Endpoints and slices of a Service that opts in. @default true */
    readonly optInCleanup?: boolean;
    /** With `follow` the pods of a zone leave the endpoints that the hub writes during a zonal shift of the EKS cluster; with `ignore` they stay. @default "follow" */
    readonly zonalShift?: 'follow' | 'ignore';
  };
  /** Each of the two queues of the cluster has a limited number of batches under way at a time, so a backlog of one leaves the other its own. */
  readonly concurrency?: {
    /** The worker handles at most this number of batches of events at a time: 10 by default with `mode: active`, otherwise 4. */
    readonly ingest?: number;
    /** The worker handles at most this number of batches of wake-ups at a time: 20 by default with `mode: active`, otherwise 4. */
    readonly sync?: number;
  };
  /** The alarms of the cluster's state have this severity: a silent relay, an open circuit, missing first lists. @default "ticket" */
  readonly alarms?: 'page' | 'ticket';
  /** The hub reaches the API server of the cluster here. Writing and exports need it. */
  readonly api?: {
    /** The API server has this address. Allowed: https://HOST[:PORT] without path, user or query. */
    readonly url: string;
    /** This authority signs the API server's certificate; without it, a public authority does. EKS needs it. Allowed: one or more certificates in PEM, or the base64 of that. */
    readonly ca?: string;
    /** The hub has these credentials. */
    readonly auth:
      | {
          /** EKS knows the hub's functions by their roles. */
          readonly type: 'eks';
          /** The EKS cluster has this name. Tokens are made for it. Allowed: the name of an EKS cluster. */
          readonly clusterName: string;
          /** The EKS cluster is in this region; without it, in the hub's. Allowed: a region such as eu-central-1. */
          readonly region?: string;
          /** The hub's functions assume this role of the cluster's account. */
          readonly role?: iam.IRole;
          /** The ARN may be given instead of role. */
          readonly roleArn?: string;
          /** An access entry of EKS lets the hub's functions in. The cluster must be in the hub's account and region. @default false */
          readonly accessEntry?: boolean;
        }
      | {
          /** Tokens of AWS's outbound web identity authenticate the hub's functions. */
          readonly type: 'web-identity';
          /** The tokens have this audience, which the API server's AuthenticationConfiguration accepts. Allowed: an audience of 1 to 1000 characters. */
          readonly audience: string;
        }
      | {
          /** A secret in Secrets Manager has the credentials. */
          readonly type: 'secret';
          /** This secret is JSON with a token, or with a client certificate and its key. A kubeconfig is refused. */
          readonly secret?: secretsmanager.ISecret;
          /** The ARN may be given instead of secret. */
          readonly secretArn?: string;
          /** This KMS key of your own encrypts the secret. */
          readonly kmsKey?: kms.IKey;
          /** The ARN may be given instead of kmsKey. */
          readonly kmsKeyArn?: string;
        };
  };
  /** The relay runs in the cluster with these settings. */
  readonly relay: RelayInput;
}

export interface RelayInput {
  /** The relay runs in this namespace. Allowed: 1 to 63 of a-z, 0-9 and "-", not beginning or ending with "-". @default "fleet-endpoints" */
  readonly namespace?: string;
  /** This number of relays runs: one leads, the others are standbys on other nodes. @default 2 */
  readonly replicas?: number;
  /** The relay lists all objects again after this time. @default Duration.seconds(1800) */
  readonly resync?: Duration;
  /** The relay has this identity in AWS. */
  readonly identity:
    | {
        /** EKS Pod Identity gives the relay its role. */
        readonly type: 'pod-identity';
        /** The EKS cluster has this name. Allowed: the name of an EKS cluster. */
        readonly clusterName: string;
        /** The stack makes the association. With false you make it. @default true */
        readonly association?: boolean;
        /** The EKS cluster is in this region; without it, in the hub's. Allowed: a region such as eu-central-1. */
        readonly region?: string;
      }
    | {
        /** AWS STS gives the relay its role for a token of its ServiceAccount. */
        readonly type: 'irsa';
        /** This provider issues the cluster's tokens. */
        readonly oidcProvider?: iam.IOpenIdConnectProvider;
        /** The ARN may be given instead of oidcProvider. */
        readonly oidcProviderArn?: string;
      }
    | {
        /** The relay has a role that exists already. */
        readonly type: 'existing-role';
        /** The relay has this role, which may be of another account. */
        readonly role?: iam.IRole;
        /** The ARN may be given instead of role. */
        readonly roleArn?: string;
        /** The role trusts the cluster's tokens. With false the pod gets its credentials in another way. @default false */
        readonly webIdentity?: boolean;
      };
  /** The relay's pods have this PriorityClass. Allowed: the name of a PriorityClass, or "" for none. @default "system-cluster-critical" */
  readonly priorityClassName?: string;
  /** The relay's container has these further environment variables, in the form of a Pod. @default [] */
  readonly extraEnv?: readonly { readonly [key: string]: unknown }[];
  /** The relay's pod has these further volumes. @default [] */
  readonly extraVolumes?: readonly { readonly [key: string]: unknown }[];
  /** The relay's container has these further volume mounts. @default [] */
  readonly extraVolumeMounts?: readonly { readonly [key: string]: unknown }[];
  /** The relay's pod has these further containers. @default [] */
  readonly sidecars?: readonly { readonly [key: string]: unknown }[];
}
