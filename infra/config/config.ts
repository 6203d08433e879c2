import type { ClusterSettings } from '#shared/contract/cluster-settings.ts';
import type { ClusterMetrics } from '#shared/contract/metrics.ts';
import type { RelayConfig } from './relay-values.ts';

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
  /**
   * Raised, it makes the next deploy register every cluster again, though nothing else of their stacks
   * changed.
   */
  readonly registrationNumber: number;
  readonly vpc?: VpcConfig | undefined;
  /**
   * Roles whose people run `fleet-endpoints cluster` and `redrive`: only they and the hub's own functions may
   * send to a cluster's queues.
   */
  readonly operatorRoleArns: readonly string[];
  /**
   * Patterns that the clusters' secrets and roles are within, for fleets whose ARNs one by one are more than
   * IAM lets a role have.
   */
  readonly access: readonly string[];
  /** Keys of the customer's own; AWS's are used without. */
  readonly encryption: {
    readonly table?: string | undefined;
    readonly queues?: string | undefined;
    readonly logs?: string | undefined;
  };
  /** Provisioned units a second of the table and of its index. On demand without it. */
  readonly capacity?: CapacityConfig | undefined;
  /** Topics of the alarms, by severity. */
  readonly pageTopicArn?: string | undefined;
  readonly ticketTopicArn?: string | undefined;
  /** Metrics that are kept for each cluster besides the fleet: `all` has upstream's gauges. */
  readonly clusterMetrics: ClusterMetrics;
  /**
   * How a new version of the worker takes over: in steps of a tenth a minute, rolled back by alarms; or
   * at once, without regard to alarms.
   */
  readonly rollout: 'gradual' | 'at-once';
  /** Settings that all exporters and importers share (docs/use/clusterset.md). */
  readonly clusterset?: ClustersetConfig | undefined;
  /** Address of docs/operate/runbook.md for the person on call. Alarms link to its headings. */
  readonly runbookUrl?: string | undefined;
}

/** Auto scaling keeps the provisioned units within these bounds. */
export interface CapacityConfig {
  readonly minReads: number;
  readonly maxReads: number;
  readonly minWrites: number;
  readonly maxWrites: number;
}

export interface ClustersetConfig {
  /** Name of the set. A namespace takes imports if its label has this value. */
  readonly name: string;
  readonly evictAfterSeconds?: number | undefined;
  readonly sameness: 'labelled' | 'all';
}

/** Where sync and sweep run, for clusters with private API endpoints. */
export interface VpcConfig {
  readonly vpcId: string;
  readonly subnetIds: readonly string[];
  readonly securityGroupIds: readonly string[];
  /** HTTPS_PROXY and NO_PROXY of sync and sweep. */
  readonly httpsProxy?: string | undefined;
  readonly noProxy: readonly string[];
}

export interface ClusterConfig {
  readonly id: string;
  /** For the console, which groups clusters by a label. */
  readonly labels: Labels;
  /** The first one; `fleet-endpoints cluster` switches it later, and a deploy does not switch it back. */
  readonly mode: 'shadow' | 'active' | 'paused';
  /** The first one, as the mode: for Services that opt in by annotation (docs/use/opt-in.md). */
  readonly optIn: 'off' | 'shadow' | 'active';
  /**
   * Imports of Services that other clusters export. A change of the file is applied; otherwise a switch by
   * the command stays.
   */
  readonly imports: 'off' | 'shadow' | 'active';
  readonly exports?: ExportsConfig | undefined;
  /** The failure domain, which evictions count by. */
  readonly region?: string | undefined;
  readonly settings: ClusterSettings;
  /** Batches handled at a time, of each function. */
  readonly concurrency: { readonly ingest: number; readonly sync: number };
  /** Action of the alarms RelaySilent, CircuitOpen and FirstListsMissing of the cluster. */
  readonly alarms: 'page' | 'ticket';
  readonly api?: ApiConfig | undefined;
  readonly relay: RelayConfig;
}

export type Labels = { readonly [name: string]: string };

export interface ExportsConfig {
  readonly namespaces: readonly string[] | 'all';
  /** Ranges that all addresses of its pods are in. */
  readonly podCidrs: readonly string[];
  readonly allowOverlap: boolean;
  /** Who may edit a namespace of the cluster may make ServiceExports in it. */
  readonly editorsMayExport?: boolean;
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
  | { readonly type: 'secret'; readonly secretArn: string; readonly kmsKeyArn?: string | undefined };
