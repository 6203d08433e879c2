import { isDeepStrictEqual } from 'node:util';
import { CfnOutput, Lazy, Stack } from 'aws-cdk-lib';
import { type Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnAccessEntry } from 'aws-cdk-lib/aws-eks';
import { type CfnEventSourceMapping, EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct, type IConstruct } from 'constructs';
import { type Alarms, alarmTopicsOf, makeAlarm } from '#infra/aws/monitoring/alarm-topics.ts';
import { clusterAlarms } from '#infra/aws/monitoring/cluster-alarms.ts';
import type { QueueRole } from '#infra/aws/monitoring/series.ts';
import { acknowledge } from '#infra/aws/stages/acknowledge-finding.ts';
import { ClusterQueues, onlyThese } from '#infra/aws/stages/cluster-queues.ts';
import { tagOwner } from '#infra/aws/stages/owner-tags.ts';
import { Registration, RemovalGuard } from '#infra/aws/stages/register-stage.ts';
import { RelayIdentity } from '#infra/aws/stages/relay-identity.ts';
import { liveAlias } from '#infra/aws/stages/rollout.ts';
import { clusterShape } from '#infra/config/cluster-shape.ts';
import type { ClusterConfig } from '#infra/config/config.ts';
import { type RelaySettings, relaySettingsOf } from '#infra/config/installed-relay.ts';
import { relayRoleNameOf } from '#infra/config/role-names.ts';
import { configParts } from '#infra/config/wing.ts';
import { relayManifest } from '#infra/relay/manifest.ts';
import type { Manifest } from '#infra/relay/manifest-yaml.ts';
import { writerGroup } from '#infra/relay/relay-names.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { type MetricName, metricsNamespaceOf } from '#shared/contract/metrics.ts';
import { fleetMetric } from './fleet-metric.ts';
import type { IFleetHub } from './hub-interface.ts';
import type { ClusterInput } from './props.ts';
import { readProps } from './read-props.ts';

export interface FleetClusterProps extends ClusterInput {
  /** The hub of the cluster is in the same account and region. */
  readonly hub: IFleetHub;
}

/** An ICluster of aws-eks, or of aws-eks-v2. */
export interface KubernetesCluster {
  addManifest(id: string, ...manifest: Record<string, unknown>[]): IConstruct;
}

export interface RelayImage {
  /** The relay's image, built from dist/relay of the package: a URI, preferably with its digest. */
  readonly image: string;
}

/**
 * The resources of one cluster: its queues keep a noisy cluster from delaying others, and its events queue is
 * its identity.
 */
export class FleetCluster extends Construct {
  /** Each queue of the cluster, and its dead-letter queues. */
  readonly queues: ClusterQueues;
  /** The role of the relay, which alone may send to the events queue. */
  readonly relayRoleArn: string;
  /** The alarms of the cluster by their headings in docs/operate/runbook.md, such as RelaySilent. */
  readonly alarms: Alarms;
  readonly #hub: IFleetHub;
  readonly #cluster: ClusterConfig;
  readonly #guard: RemovalGuard;

  constructor(scope: Construct, id: string, { hub, ...input }: FleetClusterProps) {
    super(scope, id);
    const cluster = readProps(`FleetCluster ${this.node.path}`, input, clusterShape);
    this.#hub = hub;
    this.#cluster = cluster;
    const { settings } = hub;
    this.#check(cluster, hub);
    const queues = new ClusterQueues(this, 'Queues', {
      hub: settings.name,
      cluster: cluster.id,
      keyArn: settings.encryption.queues,
    });
    const registration = new Registration(this, 'Registration', {
      register: hub.registerFunction,
      registrationNumber: settings.registrationNumber,
      clusterset: settings.clusterset,
      cluster,
      queues,
      parkedUrl: hub.parkedQueueUrl,
      quarantineUrl: hub.quarantineQueueUrl,
    });
    // Known before the first message can arrive.
    const before = [registration, ...hub.consumers];
    const { ingest, sync } = cluster.concurrency;
    const target = hub.workerFunction;
    for (const [source, queue, maxConcurrency] of [
      ['Events', queues.events, ingest],
      ['WakeUps', queues.syncs, sync],
    ] as const)
      consume(this, source, { queue, target, maxConcurrency }).node.addDependency(...before);

    const relay = new RelayIdentity(this, 'Relay', {
      relay: cluster.relay,
      roleName: relayRoleNameOf(settings.name, Stack.of(this).region, cluster.id),
      events: queues.events,
      queuesKey: settings.encryption.queues,
    });
    const { workerRoleArn, sweepRoleArn } = hub;
    onlyThese(queues.events, () => [
      relay.roleArn,
      workerRoleArn,
      sweepRoleArn,
      ...settings.operatorRoleArns,
    ]);
    onlyThese(queues.syncs, () => [workerRoleArn, sweepRoleArn, ...settings.operatorRoleArns]);
    this.#grantAccessEntries(cluster, hub);
    this.queues = queues;
    this.relayRoleArn = relay.roleArn;
    this.alarms = this.#watch(cluster, hub, queues);
    const all = [...this.node.children];
    this.#guard = new RemovalGuard(this, 'Removal', { register: hub.registerFunction, cluster: cluster.id });
    this.#guard.node.addDependency(...all);
    tagOwner(this, settings.name, cluster.id);

    new CfnOutput(this, 'EventsQueueUrl', { value: queues.events.queueUrl });
    new CfnOutput(this, 'SyncsQueueUrl', { value: queues.syncs.queueUrl });
    new CfnOutput(this, 'RelayRoleArn', { value: relay.roleArn });
    // At the synthesis every exporting cluster is known.
    if (!needsOthers(cluster) || hub.clusters)
      new CfnOutput(this, 'RelaySettings', {
        value: Lazy.string({ produce: () => Stack.of(this).toJsonString(this.#relaySettings()) }),
      });
  }

  /** Returns the relay's Kubernetes objects, in the order in which they are applied. */
  relayManifest({ image }: RelayImage): Manifest[] {
    const settings = this.#relaySettings();
    // Without an exporting cluster the API server would refuse its slices.
    const isSame = () => isDeepStrictEqual(settings.clusterset, this.#relaySettings().clusterset);
    const late = `FleetCluster ${this.node.path}: the relay's manifest lacks clusters that export, because they were made after it`;
    this.node.addValidation({ validate: () => (isSame() ? [] : [late]) });
    return [...relayManifest({ ...settings, program: { image } })];
  }

  /**
   * Installs the relay on an EKS cluster by CloudFormation. The cluster is in the stack of this construct, or
   * is imported there (Cluster.fromClusterAttributes).
   */
  installRelay(cluster: KubernetesCluster, image: RelayImage): void {
    // Pod Identity gives a role only to pods that start after the association is made.
    const manifest = cluster.addManifest('FleetEndpointsRelay', ...this.relayManifest(image));
    manifest.node.addDependency(...this.node.children.filter((child) => child !== this.#guard));
    this.#guard.node.addDependency(manifest);
  }

  #relaySettings(): RelaySettings {
    const { id } = this.#cluster;
    const { settings, clusters } = this.#hub;
    if (needsOthers(this.#cluster) && !clusters)
      throw new Error(
        `FleetCluster ${this.node.path}: ${id} imports, and a hub of another app does not know the exporting clusters: print the manifest by \`fleet-endpoints relay manifest\` from a clusters file that has them`,
      );
    const deployed = {
      eventsQueueUrl: this.queues.events.queueUrl,
      region: Stack.of(this).region,
      roleArn: this.relayRoleArn,
    };
    return relaySettingsOf(this.#cluster, settings.clusterset, clusters ?? [], deployed);
  }

  /**
   * Returns a metric of the cluster by its name: the average of a minute, unless the options differ.
   * `clusterMetrics` of the hub decides which have values.
   */
  metric(name: MetricName, options: MetricOptions = {}): Metric {
    return fleetMetric(this.#hub.settings.name, name, options, this.#cluster.id);
  }

  /** Returns the seconds since the relay's last heartbeat: the maximum of a minute. */
  metricRelaySilence(options: MetricOptions = {}): Metric {
    return this.metric('RelayHeartbeatAge', { statistic: Stats.MAXIMUM, ...options });
  }

  /** Returns the age of the cluster's oldest overdue work in seconds: the maximum of a minute. */
  metricOverdueWork(options: MetricOptions = {}): Metric {
    return this.metric('OldestDirtyAge', { statistic: Stats.MAXIMUM, ...options });
  }

  /**
   * Returns the milliseconds from a sync's due time to its accepted write: the 99th percentile of a minute.
   */
  metricWriteLatency(options: MetricOptions = {}): Metric {
    return this.metric('SyncLatency', { statistic: Stats.percentile(99), ...options });
  }

  #check(cluster: ClusterConfig, hub: IFleetHub): void {
    try {
      for (const part of configParts) {
        const broken = part.brokenCluster(cluster, hub.settings.clusterset);
        if (broken) throw new Error(broken);
      }
      hub.admit(cluster);
    } catch (error) {
      throw new Error(`FleetCluster ${this.node.path}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** EKS in this account: its API knows the functions by their roles. */
  #grantAccessEntries({ api }: ClusterConfig, hub: IFleetHub): void {
    if (api?.auth.type !== 'eks' || !api.auth.accessEntry) return;
    const { clusterName } = api.auth;
    for (const [id, principalArn] of Object.entries({
      WorkerAccess: hub.workerRoleArn,
      SweepAccess: hub.sweepRoleArn,
    })) {
      new CfnAccessEntry(this, id, {
        clusterName,
        principalArn,
        type: 'STANDARD',
        kubernetesGroups: [writerGroup],
      });
    }
  }

  #watch(cluster: ClusterConfig, { settings }: IFleetHub, queues: ClusterQueues): Alarms {
    const own: { readonly [role: string]: Queue } = {
      events: queues.events,
      syncs: queues.syncs,
      'dead-events': queues.deadEvents,
      'dead-syncs': queues.deadSyncs,
    };
    const notHere = (what: string) => (): never => {
      throw new Error(`${what} are the hub's`);
    };
    const topics = alarmTopicsOf(this, settings);
    const sources = {
      cluster: cluster.id,
      namespace: metricsNamespaceOf(settings.name),
      queueName: (role: QueueRole) => own[role]!.queueName,
      functionName: notHere('functions'),
      logGroupName: notHere('functions'),
      newVersion: notHere('functions'),
      tableName: '',
    };
    return Object.fromEntries(
      clusterAlarms(cluster.alarms).map((alarm) => [alarm.id, makeAlarm(this, alarm, sources, topics)]),
    );
  }
}

interface Consumption {
  readonly queue: Queue;
  readonly target: IFunction;
  readonly maxConcurrency: number;
}

/**
 * Batches are for throughput only, so nothing waits to fill one; what fails returns alone. The alias is
 * named, and not imported: an export that another stack uses can be neither changed nor taken away.
 */
function consume(
  scope: Construct,
  id: string,
  { queue, target, maxConcurrency }: Consumption,
): EventSourceMapping {
  const mapping = new EventSourceMapping(scope, id, {
    target,
    eventSourceArn: queue.queueArn,
    batchSize: defaultLimits.runs.batchSize,
    reportBatchItemFailures: true,
    maxConcurrency,
  });
  (mapping.node.defaultChild as CfnEventSourceMapping).functionName = `${target.functionName}:${liveAlias}`;
  acknowledge(
    mapping,
    'Serverless-LambdaEventSourceMappingDestination',
    'Lambda has none for SQS: a message that keeps failing goes to its queue’s dead-letter queue',
  );
  return mapping;
}

const needsOthers = (cluster: ClusterConfig): boolean =>
  configParts.some((part) => part.needsOthers(cluster));
