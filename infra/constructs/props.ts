/** The props of the constructs: what clusters.yaml has. Made from infra/config by `npm run props`; test/infra/props.test.ts compares. */

export interface HubInput {
  /** Begins every stack's name: two hubs in one account need two names. Allowed: 1 to 20 letters and digits, beginning with a letter. @default "FleetEndpoints" */
  readonly name?: string | undefined;
  /** AWS account of the hub; by default the credentials' account. Allowed: an account id of 12 digits, in quotes. */
  readonly account?: string | undefined;
  /** AWS region of the hub; by default the credentials' region. Allowed: a region such as eu-central-1. */
  readonly region?: string | undefined;
  /** Retention of the functions' logs, in days. @default 14 */
  readonly logRetentionDays?: number | undefined;
  /** The account's quota for concurrent executions: all concurrency may add up to four fifths. @default 1000 */
  readonly lambdaConcurrencyLimit?: number | undefined;
  /** Keeps executions for sweep and register; Lambda refuses that where fewer than 100 would be left for the rest. @default false */
  readonly reserveConcurrency?: boolean | undefined;
  /** Who may send to queues besides relays and functions: the people who run redrive and cluster. @default [] */
  readonly operatorRoleArns?: readonly string[] | undefined;
  /** Patterns that the clusters' secrets and roles are within, for hundreds of clusters, or clusters whose stacks are in other apps. @default {"secrets":[],"roles":[]} */
  readonly access?:
    | {
        /** Patterns of secret ARNs in Secrets Manager. @default [] */
        readonly secrets?: readonly string[] | undefined;
        /** Patterns of role ARNs in IAM. @default [] */
        readonly roles?: readonly string[] | undefined;
      }
    | undefined;
  /** Customer-managed KMS keys; AWS's own keys by default. @default {} */
  readonly encryption?:
    | {
        /** ARN of the KMS key of the table; needs region. Allowed: the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/…. */
        readonly table?: string | undefined;
        /** ARN of the KMS key of the queues. Allowed: the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/…. */
        readonly queues?: string | undefined;
        /** ARN of the KMS key of the logs; its policy must admit CloudWatch Logs. Allowed: the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/…. */
        readonly logs?: string | undefined;
      }
    | undefined;
  /** Provisioned units a second of the table, and again of its index, with auto scaling to 70 % use; on demand by default (docs/cost.md). */
  readonly capacity?:
    | {
        readonly reads: {
          readonly min: number;
          readonly max: number;
        };
        readonly writes: {
          readonly min: number;
          readonly max: number;
        };
      }
    | undefined;
  /** Throughput that the table serves at once, before it has scaled with use. */
  readonly warmThroughput?:
    | {
        /** Read units a second. */
        readonly reads: number;
        /** Write units a second. */
        readonly writes: number;
      }
    | undefined;
  /** Another number makes the next deploy register every cluster again. @default 0 */
  readonly registrationEpoch?: number | undefined;
  /** VPC in which sync and sweep run, to reach private API endpoints. */
  readonly vpc?:
    | {
        /** Id of the VPC. Allowed: the id of a VPC, vpc-…. */
        readonly vpcId: string;
        /** Private subnets with routes to the API servers and to AWS. */
        readonly subnetIds: readonly string[];
        /** Security groups of the functions; the hub does not change them. */
        readonly securityGroupIds: readonly string[];
        /** Proxy of sync and sweep for all HTTPS: AWS and the API servers. Allowed: the address of a proxy, http://HOST:PORT, without user and path. */
        readonly httpsProxy?: string | undefined;
        /** Hosts that sync and sweep reach without the proxy. @default [] */
        readonly noProxy?: readonly string[] | undefined;
      }
    | undefined;
  /** Topics that receive the alarms. @default {} */
  readonly alarms?:
    | {
        /** Topic of alarms that page. Allowed: the ARN of a topic, arn:aws:sns:…. */
        readonly pageTopicArn?: string | undefined;
        /** Topic of alarms that can wait for working hours. Allowed: the ARN of a topic, arn:aws:sns:…. */
        readonly ticketTopicArn?: string | undefined;
      }
    | undefined;
  /** Segments of the functions' invocations for X-Ray. @default false */
  readonly tracing?: boolean | undefined;
  /** Metrics kept for each cluster: `few` keeps three and all metrics of trouble, `all` adds upstream's gauges. @default "few" */
  readonly clusterMetrics?: 'few' | 'all' | undefined;
  /** Monthly budget of the whole account, US dollars: a ticket at 80 %, and if the forecast exceeds it. */
  readonly monthlyBudget?: number | undefined;
  /** `gradual` shifts traffic, a tenth a minute, to new versions of ingest and sync and rolls back on failures; `at-once` shifts all of it. @default "gradual" */
  readonly rollout?: 'gradual' | 'at-once' | undefined;
  /** Settings that all exporters and importers of Services share. */
  readonly clusterset?:
    | {
        /** Name of the set. A namespace takes imports if its label fleet-endpoints/clusterset has this value. Allowed: 1 to 63 of a-z, 0-9 and "-", not beginning or ending with "-". */
        readonly name: string;
        /** Endpoints of a silent cluster: `keep` leaves them in the importers, `evictAfter` removes them after evictAfterSeconds if its API does not answer either. @default "keep" */
        readonly silence?: 'keep' | 'evictAfter' | undefined;
        /** Seconds of silence before an eviction. A cluster counts as silent after 90 s, so smaller values act like 90. @default 300 */
        readonly evictAfterSeconds?: number | undefined;
        /** Seconds for which changes of an exported Service are batched before its importers run. @default 2 */
        readonly importBatchSeconds?: number | undefined;
        /** Namespaces that take imports: `labelled` ones, or `all` except default, kube-system and the like. @default "labelled" */
        readonly sameness?: 'labelled' | 'all' | undefined;
        /** Export that decides where exports of a name differ: `sticky` keeps the present one, `oldest` takes the oldest, as the API specifies. @default "sticky" */
        readonly precedence?: 'sticky' | 'oldest' | undefined;
      }
    | undefined;
  /** Address at which docs/runbook.md can be read: alarms link to its headings. Allowed: the address of a page, https://… without a #fragment. */
  readonly runbookUrl?: string | undefined;
}

export interface ClusterInput {
  /** Names stacks and queues; it stays. Allowed: 1 to 32 of a-z, 0-9 and "-", not beginning or ending with "-". */
  readonly id: string;
  /** Initial mode; `fleet-endpoints cluster` switches it later, and a deploy does not switch it back. shadow compares, active writes, paused does nothing. @default "shadow" */
  readonly mode?: 'shadow' | 'active' | 'paused' | undefined;
  /** Initial switch for Services that opt in by annotation; like mode, a deploy does not switch it back. @default "off" */
  readonly optIn?: 'off' | 'shadow' | 'active' | undefined;
  /** Imports of Services that other clusters of the set export. shadow computes, active writes. A preview: docs/clusterset.md. @default "off" */
  readonly imports?: 'off' | 'shadow' | 'active' | undefined;
  /** Exports that the cluster may make; nothing by default. A preview: docs/clusterset.md. */
  readonly exports?:
    | {
        /** Namespaces whose Services may be exported, or all; [] prepares the cluster and exports nothing. */
        readonly namespaces: readonly string[] | 'all';
        /** Ranges of its pod addresses. Importers accept no other address. */
        readonly podCidrs: readonly string[];
        /** Its ranges may overlap those of clusters that allow it too, such as two clusters in the same subnets. @default false */
        readonly allowOverlap?: boolean | undefined;
        /** Lets the cluster's roles edit and admin make ServiceExports. The API's CRDs grant that to no role. @default false */
        readonly editorsMayExport?: boolean | undefined;
      }
    | undefined;
  /** Failure domain of the cluster in a set with `silence: evictAfter`: clusters of one region may be lost together. Every cluster of the set has one, or none. Allowed: 1 to 63 of a-z, 0-9 and "-", not beginning or ending with "-". */
  readonly region?: string | undefined;
  /** Settings of the two controllers. @default {"batchPeriodSeconds":0,"maxEndpointsPerSlice":100,"endpoints":true,"slices":true,"historyDays":7} */
  readonly settings?:
    | {
        /** Seconds from a pod's change to its wake-up, as endpointUpdatesBatchPeriod of kube-controller-manager. @default 0 */
        readonly batchPeriodSeconds?: number | undefined;
        /** As --max-endpoints-per-slice of kube-controller-manager. @default 100 */
        readonly maxEndpointsPerSlice?: number | undefined;
        /** Runs the Endpoints controller. @default true */
        readonly endpoints?: boolean | undefined;
        /** Runs the EndpointSlice controller. @default true */
        readonly slices?: boolean | undefined;
        /** Days for which the history of a service is kept; 0 keeps none. @default 7 */
        readonly historyDays?: number | undefined;
        /** For Services that opt in by annotation. */
        readonly optIn?:
          | {
              /** Deletes the built-in controllers' Endpoints and slices of a Service that opts in. @default true */
              readonly cleanup?: boolean | undefined;
            }
          | undefined;
      }
    | undefined;
  /** Batches handled at a time, by each function. @default {"ingest":10,"sync":20} */
  readonly concurrency?:
    | {
        /** Concurrent batches of ingest. @default 10 */
        readonly ingest?: number | undefined;
        /** Concurrent batches of sync. @default 20 */
        readonly sync?: number | undefined;
      }
    | undefined;
  /** Severity of the alarms of the cluster's state: a silent relay, an open circuit, a closed gate. @default "ticket" */
  readonly alarms?: 'page' | 'ticket' | undefined;
  /** API server of the cluster. Only writing needs it. */
  readonly api?:
    | {
        /** Address of the API server, https://HOST[:PORT]. Allowed: https://HOST[:PORT] without path, user or query. */
        readonly url: string;
        /** Certificate authority of the API server; by default the public authorities. EKS needs it. Allowed: one or more certificates in PEM, or the base64 of that. */
        readonly ca?: string | undefined;
        /** Credentials of the hub. */
        readonly auth:
          | {
              readonly type: 'eks';
              /** Name of the EKS cluster; tokens are made for it. Allowed: the name of an EKS cluster. */
              readonly clusterName: string;
              /** Region of the EKS cluster; the hub's by default. Allowed: a region such as eu-central-1. */
              readonly region?: string | undefined;
              /** A role of the cluster's account that the hub's functions assume. Allowed: the ARN of a role, arn:aws:iam:…. */
              readonly roleArn?: string | undefined;
              /** Lets the hub's functions in through an access entry of EKS, in the same account and region. @default false */
              readonly accessEntry?: boolean | undefined;
            }
          | {
              readonly type: 'web-identity';
              /** Audience of AWS's outbound identity tokens that the API server's AuthenticationConfiguration accepts. Allowed: an audience of 1 to 1000 characters. */
              readonly audience: string;
            }
          | {
              readonly type: 'secret';
              /** A secret in JSON: a token, or a client certificate with its key. Never a kubeconfig. Allowed: the ARN of a secret, arn:aws:secretsmanager:…. */
              readonly secretArn: string;
              /** The key of your own that encrypts the secret. Allowed: the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/…. */
              readonly kmsKeyArn?: string | undefined;
            };
      }
    | undefined;
  /** The relay, which runs in the cluster. */
  readonly relay: RelayInput;
}

export interface RelayInput {
  /** Namespace of the relay in the cluster. Allowed: 1 to 63 of a-z, 0-9 and "-", not beginning or ending with "-". @default "fleet-endpoints" */
  readonly namespace?: string | undefined;
  /** Replicas of the relay: one leads, the others are standbys on other nodes. @default 2 */
  readonly replicas?: number | undefined;
  /** Seconds between two full lists. @default 1800 */
  readonly resyncSeconds?: number | undefined;
  /** Identity of the relay in AWS. */
  readonly identity:
    | {
        readonly type: 'pod-identity';
        /** Name of the EKS cluster. Allowed: the name of an EKS cluster. */
        readonly clusterName: string;
        /** The stack makes the association; otherwise you make it. @default true */
        readonly association?: boolean | undefined;
        /** Region of the cluster, if it is not the hub's region. Allowed: a region such as eu-central-1. */
        readonly region?: string | undefined;
      }
    | {
        readonly type: 'irsa';
        /** The provider that issues the cluster's tokens. Allowed: the ARN of an OIDC provider, arn:aws:iam:…. */
        readonly oidcProviderArn: string;
      }
    | {
        readonly type: 'existing-role';
        /** ARN of the role; it may be in another account. Allowed: the ARN of a role, arn:aws:iam:…. */
        readonly roleArn: string;
        /** The role trusts the cluster's tokens; otherwise the pod gets its credentials in another way. @default false */
        readonly webIdentity?: boolean | undefined;
      };
  /** PriorityClass of its pods. Allowed: the name of a PriorityClass, or "" for none. @default "system-cluster-critical" */
  readonly priorityClassName?: string | undefined;
  /** Further environment variables of its container, as in a Pod. @default [] */
  readonly extraEnv?: readonly { readonly [key: string]: unknown }[] | undefined;
  /** Further volumes of its pod. @default [] */
  readonly extraVolumes?: readonly { readonly [key: string]: unknown }[] | undefined;
  /** Further volume mounts of its container. @default [] */
  readonly extraVolumeMounts?: readonly { readonly [key: string]: unknown }[] | undefined;
  /** Further containers of its pod. @default [] */
  readonly sidecars?: readonly { readonly [key: string]: unknown }[] | undefined;
}
