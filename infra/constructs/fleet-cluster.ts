import { CfnOutput, Stack } from 'aws-cdk-lib';
import { CfnAccessEntry } from 'aws-cdk-lib/aws-eks';
import { type CfnEventSourceMapping, EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { clusterShape } from '#infra/config/cluster-shape.ts';
import { noSet, takesPart } from '#infra/config/clusterset-rules.ts';
import type { ClusterConfig } from '#infra/config/config.ts';
import { relayRoleNameOf } from '#infra/config/role-names.ts';
import { alarmTopicsOf, makeAlarm } from '#infra/monitoring/alarm-topics.ts';
import { clusterAlarms } from '#infra/monitoring/cluster-alarms.ts';
import type { QueueRole } from '#infra/monitoring/series.ts';
import { writerGroup } from '#infra/relay/relay-names.ts';
import { acknowledge } from '#infra/stages/acknowledge-finding.ts';
import { ClusterQueues, onlyThese } from '#infra/stages/cluster-queues.ts';
import { Registration } from '#infra/stages/register-stage.ts';
import { RelayIdentity } from '#infra/stages/relay-identity.ts';
import { liveAlias } from '#infra/stages/rollout.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { metricsNamespaceOf } from '#shared/contract/metrics.ts';
import type { IFleetHub } from './hub-interface.ts';
import type { ClusterInput } from './props.ts';
import { readProps } from './read-props.ts';

export interface FleetClusterProps extends ClusterInput {
  /** The hub of the cluster is in the same account and region. */
  readonly hub: IFleetHub;
}

/** The resources of one cluster: its queues keep a noisy cluster from delaying others, and its events queue is its identity. */
export class FleetCluster extends Construct {
  readonly eventsQueueUrl: string;
  /** The role of the relay, which alone may send to the events queue. */
  readonly relayRoleArn: string;

  constructor(scope: Construct, id: string, { hub, ...input }: FleetClusterProps) {
    super(scope, id);
    const cluster = readProps(`FleetCluster ${this.node.path}`, input, clusterShape);
    const { settings } = hub;
    this.#check(cluster, hub);
    const queues = new ClusterQueues(this, 'Queues', {
      hub: settings.name,
      cluster: cluster.id,
      keyArn: settings.encryption.queues,
    });
    const registration = new Registration(this, 'Registration', {
      register: hub.registerFunction,
      registrationEpoch: settings.registrationEpoch,
      clusterset: settings.clusterset,
      cluster,
      queues,
      parkedUrl: hub.parkedQueueUrl,
      quarantineUrl: hub.quarantineQueueUrl,
    });
    // Known before the first message can arrive.
    const before = [registration, ...hub.consumers];
    consume(this, 'EventsToIngest', queues.events, hub.ingestFunction, cluster.concurrency.ingest).node.addDependency(...before);
    consume(this, 'SyncsToSync', queues.syncs, hub.syncFunction, cluster.concurrency.sync).node.addDependency(...before);

    const relay = new RelayIdentity(this, 'Relay', {
      relay: cluster.relay,
      roleName: relayRoleNameOf(settings.name, Stack.of(this).region, cluster.id),
      events: queues.events,
      queuesKey: settings.encryption.queues,
    });
    const { ingestRoleArn, syncRoleArn, sweepRoleArn } = hub;
    onlyThese(queues.events, [relay.roleArn, ingestRoleArn, sweepRoleArn, ...settings.operatorRoleArns]);
    onlyThese(queues.syncs, [ingestRoleArn, syncRoleArn, sweepRoleArn, ...settings.operatorRoleArns]);
    this.#grantAccessEntries(cluster, hub);
    this.#watch(cluster, hub, queues);

    this.eventsQueueUrl = queues.events.queueUrl;
    this.relayRoleArn = relay.roleArn;

    new CfnOutput(this, 'EventsQueueUrl', { value: queues.events.queueUrl });
    new CfnOutput(this, 'SyncsQueueUrl', { value: queues.syncs.queueUrl });
    new CfnOutput(this, 'RelayRoleArn', { value: relay.roleArn });
  }

  #check(cluster: ClusterConfig, hub: IFleetHub): void {
    try {
      if (takesPart(cluster) && !hub.settings.clusterset) throw new Error(noSet(cluster));
      hub.admit(cluster);
    } catch (error) {
      throw new Error(`FleetCluster ${this.node.path}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** EKS in this account: its API knows the functions by their roles. */
  #grantAccessEntries({ api }: ClusterConfig, hub: IFleetHub): void {
    if (api?.auth.type !== 'eks' || !api.auth.accessEntry) return;
    const { clusterName } = api.auth;
    for (const [id, principalArn] of Object.entries({ SyncAccess: hub.syncRoleArn, SweepAccess: hub.sweepRoleArn })) {
      new CfnAccessEntry(this, id, { clusterName, principalArn, type: 'STANDARD', kubernetesGroups: [writerGroup] });
    }
  }

  #watch(cluster: ClusterConfig, { settings }: IFleetHub, queues: ClusterQueues): void {
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
      newVersion: notHere('functions'),
      tableName: '',
    };
    for (const alarm of clusterAlarms(cluster.alarms)) makeAlarm(this, alarm, sources, topics);
  }
}

/**
 * Batches are for throughput only, so nothing waits to fill one; what fails returns alone. The alias is named, and not imported: an export that another stack
 * uses can be neither changed nor taken away.
 */
function consume(scope: Construct, id: string, queue: Queue, target: IFunction, maxConcurrency: number): EventSourceMapping {
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
