import { Duration, Stack } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import { roleNameOf } from '#infra/config/role-names.ts';
import { functionMemoryMiB } from '#shared/contract/function-memory.ts';
import { grantClusterAccess } from './cluster-access.ts';
import { HubFunction } from './function.ts';
import { acknowledgeQueuesOfAllClusters, queueOfAllClusters } from './queue-arns.ts';
import type { Snapshot } from './snapshot-table.ts';
import type { ReachingStageProps } from './stage-props.ts';
import { grantZonalShift } from './zonal-shift-access.ts';

export interface SweepProps extends ReachingStageProps {
  readonly snapshot: Snapshot;
}

/** Runs each minute: publishes ages, wakes overdue work, verifies sessions, finishes switches of mode. */
export class Sweep extends Construct {
  readonly function: HubFunction;

  constructor(scope: Construct, id: string, { hub, table, snapshot, clusters, access, network }: SweepProps) {
    super(scope, id);
    this.function = new HubFunction(this, 'Sweep', {
      code: 'sweep',
      description: 'wakes what is overdue, and publishes how old it is',
      hub,
      table,
      // One vCPU, as for sync: a thousand clusters are some ten seconds of one, and switches of a whole fleet
      // come on top.
      memoryMiB: functionMemoryMiB.sweep,
      timeout: Duration.seconds(55),
      clusterMetrics: hub.clusterMetrics,
      // It is called by the clock, but what it sends begins chains that are followed across functions.
      recursiveLoop: RecursiveLoop.ALLOW,
      // The schedule's calls are asynchronous, which Lambda would try three times, and for six hours while it
      // is out of executions: sweeps at once, of minutes that are long over.
      asynchronous: {
        retries: 0,
        maxAge: Duration.minutes(1),
        why: 'the next run, a minute later, makes up for a failed one; SweepFails reports it',
      },
      network,
    });
    this.function.grantTable(table.tableArn, 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem');
    // For purging the records of removed clusters, which are spread over the table.
    this.function.grantTable(table.tableArn, 'Scan', 'DeleteItem');
    this.function.denyIdentity(table.tableArn);
    this.function.useKeys('table', 'queues');
    this.function.grantTable(snapshot.dirtyIndexArn, 'Query');
    // Lists of its own are applied as the relay's are: by ingest, from the events queue.
    this.function.allow(
      [queueOfAllClusters(this, hub.name, 'events'), queueOfAllClusters(this, hub.name, 'syncs')],
      'sqs:SendMessage',
    );
    acknowledgeQueuesOfAllClusters(this.function.role, hub.name, 'events', 'syncs');
    grantClusterAccess(this.function, clusters, access);
    grantZonalShift(this.function, clusters);

    this.#everyMinute(hub.name);
  }

  #everyMinute(hub: string): void {
    const { functionArn } = this.function.fn;
    const scheduler = new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
    });
    const role = new Role(this, 'Schedule', {
      roleName: roleNameOf(hub, Stack.of(this).region, 'schedule'),
      assumedBy: scheduler,
      description: 'calls sweep every minute',
    });
    // One ARN exactly: the target of the L2 construct would also allow every version of the function.
    const invoke = new PolicyStatement({
      effect: Effect.ALLOW,
      actions: ['lambda:InvokeFunction'],
      resources: [functionArn],
    });
    role.addToPolicy(invoke);
    const schedule = new CfnSchedule(this, 'EveryMinute', {
      scheduleExpression: 'rate(1 minute)',
      flexibleTimeWindow: { mode: 'OFF' },
      // A call that Lambda did not accept is not retried, because the next minute's call does the same.
      target: {
        arn: functionArn,
        roleArn: role.roleArn,
        retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
      },
    });
    schedule.node.addDependency(role);
  }
}
