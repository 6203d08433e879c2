import { createHash } from 'node:crypto';
import { relayEnv } from '#shared/contract/env.ts';
import type { Manifest } from './manifest-yaml.ts';
import { bundlePath, bundleVolume, criticalPriority, noExtras, type PodExtras, webIdentity } from './pod.ts';
import { relayRbac } from './rbac.ts';
import { relayLease, relayServiceAccount } from './relay-names.ts';
import type { ClustersetTasks } from './set-tasks.ts';
import { relayParts } from './wing.ts';
import { writerLimits } from './writer-limits.ts';
import type { WriterTasks } from './writer-tasks.ts';

export interface RelayInstall {
  readonly cluster: string;
  readonly namespace: string;
  readonly eventsQueueUrl: string;
  readonly region: string;
  /** `full` lets shadow compare without credentials for the cluster; `metadata` is enough once active. */
  readonly outputs: 'full' | 'metadata';
  /** Objects that the hub may write; by default those of the two controllers. */
  readonly tasks?: WriterTasks;
  /** Set for a cluster that exports to its set or imports from it. */
  readonly clusterset?: ClustersetTasks;
  readonly replicas: number;
  readonly resyncSeconds: string;
  /** The role that AWS gives for a token of the relay's ServiceAccount, where it is known by that. */
  readonly roleArn?: string;
  /** Without it a full cluster preempts the relay just when endpoints change most. "" for none. */
  readonly priorityClassName?: string;
  readonly extras?: PodExtras;
  /** Pods of this namespace may read the relay's metrics. */
  readonly prometheusNamespace?: string;
  readonly program: RelayProgram;
}

/**
 * An image built from functions/relay/Dockerfile, or the bundle in a ConfigMap on a stock Node image: for a
 * first look.
 */
export type RelayProgram = { readonly image: string } | { readonly bundle: string };

const stockImage = 'public.ecr.aws/docker/library/node:24-slim';
const port = 8080;
const name = 'relay';
const labels = { 'app.kubernetes.io/name': 'relay', 'app.kubernetes.io/part-of': 'fleet-endpoints' };

const matchLabels = { 'app.kubernetes.io/name': name };

/** Everything that a cluster needs, in the order in which it can be applied. */
export function relayManifest(install: RelayInstall): readonly Manifest[] {
  const { namespace, program, tasks, clusterset } = install;
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: namespace,
        labels: {
          'pod-security.kubernetes.io/enforce': 'restricted',
          'app.kubernetes.io/part-of': 'fleet-endpoints',
        },
      },
    },
    ...relayRbac(namespace, tasks),
    ...(clusterset ? relayParts.flatMap((part) => part.rbac(namespace, clusterset)) : []),
    ...writerLimits(namespace, tasks, clusterset),
    ...('bundle' in program ? [bundleMap(namespace, program.bundle)] : []),
    deployment(install),
    networkPolicy(install),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace, labels },
      // With one replica the budget still allows eviction.
      spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels } },
    },
  ];
}

/** The port has probes, which come from the pod's own node and always pass, and metrics. */
const networkPolicy = ({ namespace, prometheusNamespace }: RelayInstall): Manifest => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, namespace, labels },
  spec: {
    podSelector: { matchLabels },
    policyTypes: ['Ingress'],
    ...(prometheusNamespace && {
      ingress: [
        {
          from: [
            { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': prometheusNamespace } } },
          ],
          ports: [{ port: 'http' }],
        },
      ],
    }),
  },
});

const bundleMap = (namespace: string, bundle: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels },
  data: { 'relay.mjs': bundle },
});

/**
 * One pod leads, and a standby runs on another node (docs/develop/decisions/0013-two-relays-elect-a-leader.md).
 * Both are evicted early from a node that does not answer. CPU has no limit, because the first lists are a
 * burst. Memory is as measured with 20,000 pods; more pods need more.
 */
function deployment(install: RelayInstall): Manifest {
  const { namespace, program, replicas, priorityClassName = criticalPriority, extras = noExtras } = install;
  const bundle = 'bundle' in program ? program.bundle : undefined;
  const token = install.roleArn ? webIdentity(install.roleArn) : noExtras;
  const mounts = [
    ...(bundle ? [{ name: bundleVolume, mountPath: bundlePath, readOnly: true }] : []),
    ...token.extraVolumeMounts,
    ...extras.extraVolumeMounts,
  ];
  const volumes = [
    ...(bundle ? [{ name: bundleVolume, configMap: { name } }] : []),
    ...token.extraVolumes,
    ...extras.extraVolumes,
  ];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas,
      // A new pod is ready as a standby before an old pod ends. The Lease decides which of them leads.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels },
      template: {
        metadata: {
          labels,
          ...(bundle && {
            annotations: {
              'fleet-endpoints/bundle': createHash('sha256').update(bundle).digest('hex').slice(0, 16),
            },
          }),
        },
        spec: {
          serviceAccountName: relayServiceAccount,
          ...(priorityClassName && { priorityClassName }),
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          tolerations: ['not-ready', 'unreachable'].map((what) => ({
            key: `node.kubernetes.io/${what}`,
            operator: 'Exists',
            effect: 'NoExecute',
            tolerationSeconds: 15,
          })),
          topologySpreadConstraints: [
            // A node that is gone does not count, or the pod that replaces its own could not be placed.
            spread('kubernetes.io/hostname', {
              whenUnsatisfiable: 'DoNotSchedule',
              nodeTaintsPolicy: 'Honor',
            }),
            spread('topology.kubernetes.io/zone', { whenUnsatisfiable: 'ScheduleAnyway' }),
          ],
          terminationGracePeriodSeconds: 30,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65532,
            runAsGroup: 65532,
            fsGroup: 65532,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [
            {
              name,
              image: 'image' in program ? program.image : stockImage,
              ...(bundle && { command: ['node', `${bundlePath}/relay.mjs`] }),
              env: [...environment(install), ...token.extraEnv, ...extras.extraEnv],
              ...(mounts.length > 0 && { volumeMounts: mounts }),
              ports: [{ name: 'http', containerPort: port }],
              // The first list of a large cluster takes its time. Neither probe asks whether the API server
              // or SQS can be reached.
              readinessProbe: {
                httpGet: { path: '/readyz', port: 'http' },
                periodSeconds: 5,
                failureThreshold: 3,
              },
              livenessProbe: {
                httpGet: { path: '/healthz', port: 'http' },
                initialDelaySeconds: 10,
                periodSeconds: 20,
                timeoutSeconds: 5,
                failureThreshold: 3,
              },
              resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '384Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
            },
            ...extras.sidecars,
          ],
          ...(volumes.length > 0 && { volumes }),
        },
      },
    },
  };
}

/** Pods of one revision apart from those of the next, which take their places. */
const spread = (topologyKey: string, more: object): object => ({
  maxSkew: 1,
  topologyKey,
  labelSelector: { matchLabels },
  matchLabelKeys: ['pod-template-hash'],
  ...more,
});

function environment({
  cluster,
  namespace,
  eventsQueueUrl,
  region,
  outputs,
  resyncSeconds,
  clusterset,
}: RelayInstall): object[] {
  const values = {
    [relayEnv.clusterId]: cluster,
    [relayEnv.eventsQueueUrl]: eventsQueueUrl,
    [relayEnv.outputs]: outputs,
    [relayEnv.resyncSeconds]: resyncSeconds,
    [relayEnv.port]: String(port),
    [relayEnv.lease]: `${namespace}/${relayLease}`,
    ...(clusterset && { [relayEnv.clusterset]: '1' }),
    AWS_REGION: region,
    // Halves the memory under bursts of events, for a few per cent of CPU.
    NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=128',
  };
  return Object.entries(values).map(([key, value]) => ({ name: key, value }));
}
