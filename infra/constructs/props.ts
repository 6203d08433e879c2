/** The props of the constructs: what clusters.yaml has. Made from infra/config by `npm run props`; test/infra/props.test.ts compares. */

export interface HubInput {
  /** Begins every stack's name: two hubs in one account need two names. Allowed: 1 to 20 letters and digits, beginning with a letter. @default "FleetEndpoints" */
  readonly name?: string | undefined;
  /** Of AWS; that of the credentials by default. Allowed: an account id of 12 digits, in quotes. */
  readonly account?: string | undefined;
  /** Of AWS; that of the credentials by default. Allowed: a region such as eu-central-1. */
  readonly region?: string | undefined;
  /** Of the functions' logs. @default 14 */
  readonly logRetentionDays?: number | undefined;
  /** The account's quota for concurrent executions: all concurrency may add up to four fifths. @default 1000 */
  readonly lambdaConcurrencyLimit?: number | undefined;
  /** Keeps executions for sweep and register; Lambda refuses that where fewer than 100 would be left for the rest. @default false */
  readonly reserveConcurrency?: boolean | undefined;
  /** Who may send to queues besides relays and functions: the people who run redrive and cluster. @default [] */
  readonly operatorRoleArns?: readonly string[] | undefined;
  /** Names of new queues: HUB-ID-events, or what CloudFormation makes up. @default "generated" */
  readonly queueNames?: 'fixed' | 'generated' | undefined;
  /** Patterns that the clusters' secrets and roles are within, for hundreds of clusters, or clusters whose stacks are in other apps. @default {"secrets":[],"roles":[]} */
  readonly access?:
    | {
        /** Of Secrets Manager. @default [] */
        readonly secrets?: readonly string[] | undefined;
        /** Of IAM. @default [] */
        readonly roles?: readonly string[] | undefined;
      }
    | undefined;
  /** Keys of your own; AWS's without. @default {} */
  readonly encryption?:
    | {
        /** Needs region. Allowed: the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/…. */
        readonly table?: string | undefined;
        /** Of SQS. Allowed: the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/…. */
        readonly queues?: string | undefined;
        /** Its policy must admit CloudWatch Logs. Allowed: the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/…. */
        readonly logs?: string | undefined;
      }
    | undefined;
  /** What the table takes at once, before it has grown with use. */
  readonly warmThroughput?:
    | {
        /** Units a second. */
        readonly reads: number;
        /** Units a second. */
        readonly writes: number;
      }
    | undefined;
  /** Another number makes the next deploy register every cluster again. @default 0 */
  readonly registrationEpoch?: number | undefined;
  /** Where sync and sweep run, to reach private API endpoints. */
  readonly vpc?:
    | {
        /** Its id. Allowed: the id of a VPC, vpc-…. */
        readonly vpcId: string;
        /** Private ones, with a way to the API servers and to AWS. */
        readonly subnetIds: readonly string[];
        /** They are not changed. */
        readonly securityGroupIds: readonly string[];
      }
    | undefined;
  /** Where alarms go. @default {} */
  readonly alarms?:
    | {
        /** For those that call somebody. Allowed: the ARN of a topic, arn:aws:sns:…. */
        readonly pageTopicArn?: string | undefined;
        /** For those that can wait for the day. Allowed: the ARN of a topic, arn:aws:sns:…. */
        readonly ticketTopicArn?: string | undefined;
      }
    | undefined;
  /** Segments of the functions' invocations for X-Ray. @default false */
  readonly tracing?: boolean | undefined;
  /** Kept for each cluster: three metrics and those of trouble, or upstream's gauges too. @default "few" */
  readonly clusterMetrics?: 'few' | 'all' | undefined;
  /** US dollars, of the whole account: a ticket at 80 %, and when more than all is forecast. */
  readonly monthlyBudget?: number | undefined;
  /** New versions of ingest and sync take over a tenth a minute and go back when they fail, or at once. @default "gradual" */
  readonly rollout?: 'gradual' | 'at-once' | undefined;
  /** What the clusters that export or import Services have in common. */
  readonly clusterset?:
    | {
        /** Of the set. A namespace takes imports that has it as the value of its label fleet-endpoints/clusterset. Allowed: 1 to 63 of a-z, 0-9 and "-", not beginning or ending with "-". */
        readonly name: string;
        /** Of a cluster that is not heard: its endpoints stay in the others, or go after evictAfterSeconds if its API does not answer either. @default "keep" */
        readonly silence?: 'keep' | 'evictAfter' | undefined;
        /** A cluster counts as silent after 90 s: less than that makes no difference. @default 300 */
        readonly evictAfterSeconds?: number | undefined;
        /** How long the changes of an exported Service are gathered before its importers run. @default 2 */
        readonly importBatchSeconds?: number | undefined;
        /** Which namespaces take imports: those with the label, or all but default, kube-system and the like. @default "labelled" */
        readonly sameness?: 'labelled' | 'all' | undefined;
        /** Whose word decides where exports of a name differ: that of the one that decided so far, or of the oldest, as the API has it. @default "sticky" */
        readonly precedence?: 'sticky' | 'oldest' | undefined;
      }
    | undefined;
  /** Where docs/runbook.md can be read: alarms link to its headings. Allowed: the address of a page, https://… without a #fragment. */
  readonly runbookUrl?: string | undefined;
}

export interface ClusterInput {
  /** Names stacks and queues; it stays. Allowed: 1 to 32 of a-z, 0-9 and "-", not beginning or ending with "-". */
  readonly id: string;
  /** The first one; `fleet-endpoints cluster` switches it later, and a deploy does not switch it back. shadow compares, active writes, paused does nothing. @default "shadow" */
  readonly mode?: 'shadow' | 'active' | 'paused' | undefined;
  /** The first one, as the mode: for Services that opt in by annotation. @default "off" */
  readonly optIn?: 'off' | 'shadow' | 'active' | undefined;
  /** Of Services that other clusters of the set export. shadow computes, active writes. A preview: docs/clusterset.md. @default "off" */
  readonly imports?: 'off' | 'shadow' | 'active' | undefined;
  /** What the cluster may export to the others of the set; nothing by default. A preview: docs/clusterset.md. */
  readonly exports?:
    | {
        /** Namespaces whose Services may be exported, or all; [] prepares the cluster and exports nothing. */
        readonly namespaces: readonly string[] | 'all';
        /** Ranges that the addresses of its pods are in: no importer takes another one. */
        readonly podCidrs: readonly string[];
        /** Its ranges may overlap those of clusters that allow it too, such as two clusters in the same subnets. @default false */
        readonly allowOverlap?: boolean | undefined;
        /** The relay's manifest lets the cluster's roles edit and admin make ServiceExports: the API's CRDs let nobody. @default false */
        readonly editorsMayExport?: boolean | undefined;
      }
    | undefined;
  /** What the two controllers do. @default {"batchPeriodSeconds":0,"maxEndpointsPerSlice":100,"endpoints":true,"slices":true,"historyDays":7} */
  readonly settings?:
    | {
        /** From a pod's change to its wake-up, as endpointUpdatesBatchPeriod of kube-controller-manager. @default 0 */
        readonly batchPeriodSeconds?: number | undefined;
        /** As of kube-controller-manager. @default 100 */
        readonly maxEndpointsPerSlice?: number | undefined;
        /** Runs the Endpoints controller. @default true */
        readonly endpoints?: boolean | undefined;
        /** Runs the EndpointSlice controller. @default true */
        readonly slices?: boolean | undefined;
        /** How long the history of a service is kept; 0 keeps none. @default 7 */
        readonly historyDays?: number | undefined;
        /** For Services that opt in by annotation. */
        readonly optIn?:
          | {
              /** What the built-in controllers left of a Service that opts in is deleted. @default true */
              readonly cleanup?: boolean | undefined;
              /** How long our slices may stay when a Service no longer opts in and the built-in controllers serve less. @default 30 */
              readonly handoverSeconds?: number | undefined;
            }
          | undefined;
      }
    | undefined;
  /** Names of this cluster's queues; those of the hub by default. */
  readonly queueNames?: 'fixed' | 'generated' | undefined;
  /** Batches handled at a time, by each function. @default {"ingest":10,"sync":20} */
  readonly concurrency?:
    | {
        /** By ingest. @default 10 */
        readonly ingest?: number | undefined;
        /** By sync. @default 20 */
        readonly sync?: number | undefined;
      }
    | undefined;
  /** What the alarms of the cluster's state do: its silent relay, open circuit or closed gate. @default "ticket" */
  readonly alarms?: 'page' | 'ticket' | undefined;
  /** Its API server, which only writing needs. */
  readonly api?:
    | {
        /** https://HOST[:PORT]. Allowed: https://HOST[:PORT] without path, user or query. */
        readonly url: string;
        /** Without it the public authorities are trusted. Allowed: one or more certificates in PEM, or the base64 of that. */
        readonly ca?: string | undefined;
        /** How the hub gets in. */
        readonly auth:
          | {
              readonly type: 'eks';
              /** Of EKS; the token is for it. Allowed: the name of an EKS cluster. */
              readonly clusterName: string;
              /** Of the EKS cluster; the hub's by default. Allowed: a region such as eu-central-1. */
              readonly region?: string | undefined;
              /** A role of the cluster's account that the hub's functions assume. Allowed: the ARN of a role, arn:aws:iam:…. */
              readonly roleArn?: string | undefined;
              /** Lets the hub's functions in through an access entry of EKS, in the same account and region. @default false */
              readonly accessEntry?: boolean | undefined;
            }
          | {
              readonly type: 'web-identity';
              /** What the API server's AuthenticationConfiguration accepts of AWS's outbound identity tokens. Allowed: an audience of 1 to 1000 characters. */
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
  /** The program in the cluster. */
  readonly relay: RelayInput;
}

export interface RelayInput {
  /** Of the relay in the cluster. Allowed: 1 to 63 of a-z, 0-9 and "-", not beginning or ending with "-". @default "fleet-endpoints" */
  readonly namespace?: string | undefined;
  /** One speaks, the others stand by on other nodes. @default 2 */
  readonly replicas?: number | undefined;
  /** How often all objects are listed again. @default 1800 */
  readonly resyncSeconds?: number | undefined;
  /** Who the relay is in AWS. */
  readonly identity:
    | {
        readonly type: 'pod-identity';
        /** Of EKS. Allowed: the name of an EKS cluster. */
        readonly clusterName: string;
        /** The stack makes the association; otherwise you make it. @default true */
        readonly association?: boolean | undefined;
        /** Of the cluster, where it is not the region of the hub. Allowed: a region such as eu-central-1. */
        readonly region?: string | undefined;
      }
    | {
        readonly type: 'irsa';
        /** The provider that knows the cluster's tokens. Allowed: the ARN of an OIDC provider, arn:aws:iam:…. */
        readonly oidcProviderArn: string;
      }
    | {
        readonly type: 'existing-role';
        /** It may be in another account. Allowed: the ARN of a role, arn:aws:iam:…. */
        readonly roleArn: string;
        /** The role trusts the cluster's tokens; otherwise the pod gets its credentials in another way. @default false */
        readonly webIdentity?: boolean | undefined;
      };
  /** Of its pods. Allowed: the name of a PriorityClass, or "" for none. @default "system-cluster-critical" */
  readonly priorityClassName?: string | undefined;
  /** Of its container, as a pod has them. @default [] */
  readonly extraEnv?: readonly { readonly [key: string]: unknown }[] | undefined;
  /** Of its pod. @default [] */
  readonly extraVolumes?: readonly { readonly [key: string]: unknown }[] | undefined;
  /** Of its container. @default [] */
  readonly extraVolumeMounts?: readonly { readonly [key: string]: unknown }[] | undefined;
  /** Further containers of its pod. @default [] */
  readonly sidecars?: readonly { readonly [key: string]: unknown }[] | undefined;
}
