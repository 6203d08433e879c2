import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { CfnAccessEntry } from 'aws-cdk-lib/aws-eks';
import { type CfnEventSourceMapping, EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { ClusterConfig, HubConfig } from '#infra/config/config.ts';
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
import type { HubStack } from './hub-stack.ts';

export interface ClusterStackProps extends StackProps {
  readonly hub: HubStack;
  readonly hubConfig: HubConfig;
  readonly cluster: ClusterConfig;
}

/** The resources of one cluster: its queues keep a noisy cluster from delaying others, and its events queue is its identity. */
export class ClusterStack extends Stack {
  constructor(scope: Construct, id: string, { hub, hubConfig, cluster, ...props }: ClusterStackProps) {
    super(scope, id, props);
    const queues = new ClusterQueues(this, 'Queues', {
      hub: hubConfig.name,
      cluster: cluster.id,
      names: cluster.queueNames ?? hubConfig.queueNames,
      keyArn: hubConfig.encryption.queues,
    });
    const registration = new Registration(this, 'Registration', {
      register: hub.register.function.fn,
      registrationEpoch: hubConfig.registrationEpoch,
      cluster,
      queues,
      parked: hub.deadLetters.parked,
      quarantine: hub.deadLetters.quarantine,
    });
    // Known before the first message can arrive.
    consume(this, 'EventsToIngest', queues.events, hub.ingest.function.fn, cluster.concurrency.ingest).node.addDependency(registration);
    consume(this, 'SyncsToSync', queues.syncs, hub.sync.function.fn, cluster.concurrency.sync).node.addDependency(registration);

    const relay = new RelayIdentity(this, 'Relay', {
      relay: cluster.relay,
      events: queues.events,
      queuesKey: hubConfig.encryption.queues,
    });
    const [ingest, sync, sweep] = [hub.ingest, hub.sync, hub.sweep].map((stage) => stage.function.role.roleArn as string);
    onlyThese(queues.events, [relay.roleArn, ingest, sweep, ...hubConfig.operatorRoleArns] as string[]);
    onlyThese(queues.syncs, [ingest, sync, sweep, ...hubConfig.operatorRoleArns] as string[]);
    this.#grantAccessEntries(cluster, hub);
    this.#watch(cluster, hubConfig, queues);

    new CfnOutput(this, 'EventsQueueUrl', { value: queues.events.queueUrl });
    new CfnOutput(this, 'SyncsQueueUrl', { value: queues.syncs.queueUrl });
    new CfnOutput(this, 'RelayRoleArn', { value: relay.roleArn });
  }

  /** EKS in this account: its API knows the functions by their roles. */
  #grantAccessEntries({ api }: ClusterConfig, hub: HubStack): void {
    if (api?.auth.type !== 'eks' || !api.auth.accessEntry) return;
    const { clusterName } = api.auth;
    for (const [id, stage] of Object.entries({ SyncAccess: hub.sync, SweepAccess: hub.sweep })) {
      new CfnAccessEntry(this, id, { clusterName, principalArn: stage.function.role.roleArn, type: 'STANDARD', kubernetesGroups: [writerGroup] });
    }
  }

  #watch(cluster: ClusterConfig, hubConfig: HubConfig, queues: ClusterQueues): void {
    const own: { readonly [role: string]: Queue } = {
      events: queues.events,
      syncs: queues.syncs,
      'dead-events': queues.deadEvents,
      'dead-syncs': queues.deadSyncs,
    };
    const notHere = (what: string) => (): never => {
      throw new Error(`${what} are the hub's`);
    };
    const topics = alarmTopicsOf(this, hubConfig);
    const sources = {
      cluster: cluster.id,
      namespace: metricsNamespaceOf(hubConfig.name),
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
