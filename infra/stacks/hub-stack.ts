import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { Config } from '#infra/config/config.ts';
import { watchBudget } from '#infra/monitoring/budget.ts';
import { Monitoring } from '#infra/monitoring/monitoring.ts';
import { saveQueries } from '#infra/monitoring/queries.ts';
import { onlyThese } from '#infra/stages/cluster-queues.ts';
import { DeadLetters } from '#infra/stages/dead-letters.ts';
import { networkOf } from '#infra/stages/function.ts';
import { Ingest } from '#infra/stages/ingest-stage.ts';
import { Register } from '#infra/stages/register-stage.ts';
import { newVersionOf, Rollout } from '#infra/stages/rollout.ts';
import type { Snapshot } from '#infra/stages/snapshot-table.ts';
import { Sweep } from '#infra/stages/sweep-stage.ts';
import { Sync } from '#infra/stages/sync-stage.ts';
import { metricsNamespaceOf } from '#shared/contract/metrics.ts';

export interface HubStackProps extends StackProps {
  readonly config: Config;
  readonly snapshot: Snapshot;
}

/** Everything that all clusters share, but the table. */
export class HubStack extends Stack {
  readonly deadLetters: DeadLetters;
  readonly ingest: Ingest;
  readonly sync: Sync;
  readonly sweep: Sweep;
  readonly register: Register;

  constructor(scope: Construct, id: string, { config, snapshot, ...props }: HubStackProps) {
    super(scope, id, props);
    const { hub, clusters } = config;
    const stage = { hub, table: snapshot.table };
    const network = hub.vpc && networkOf(this, hub.vpc);
    const reach = { clusters, access: hub.access, network };
    this.deadLetters = new DeadLetters(this, 'DeadLetters', hub.encryption.queues);
    this.ingest = new Ingest(this, 'Ingest', { ...stage, deadLetters: this.deadLetters });
    this.sync = new Sync(this, 'Sync', { ...stage, deadLetters: this.deadLetters, ...reach });
    this.sweep = new Sweep(this, 'Sweep', { ...stage, snapshot, ...reach });
    this.register = new Register(this, 'Register', stage);
    // What lies there is taken up again by `redrive`, in the name of the cluster that it names.
    const senders = [this.sync.function.role.roleArn, ...hub.operatorRoleArns];
    onlyThese(this.deadLetters.parked, senders);
    onlyThese(this.deadLetters.quarantine, [this.ingest.function.role.roleArn, ...senders]);
    const { alarms } = this.#monitor(config, snapshot);
    if (hub.rollout === 'gradual') {
      const rollBackOn = (...names: readonly string[]): IAlarm[] => names.flatMap((name) => alarms.get(name) ?? []);
      new Rollout(this, 'IngestRollout', { live: this.ingest.live, rollBackOn: rollBackOn('NewIngestFails', 'MessagesFail') });
      new Rollout(this, 'SyncRollout', { live: this.sync.live, rollBackOn: rollBackOn('NewSyncFails', 'MessagesFail') });
    }

    watchBudget(this, hub);
    saveQueries(this, hub.name, (role) => this[role].function.fn.logGroup.logGroupName);

    new CfnOutput(this, 'TableName', { value: snapshot.table.tableName });
    new CfnOutput(this, 'ParkedQueueUrl', { value: this.deadLetters.parked.queueUrl });
    new CfnOutput(this, 'QuarantineQueueUrl', { value: this.deadLetters.quarantine.queueUrl });
    new CfnOutput(this, 'SyncRoleArn', { value: this.sync.function.role.roleArn });
    new CfnOutput(this, 'SweepRoleArn', { value: this.sweep.function.role.roleArn });
  }

  #monitor({ hub, clusters }: Config, { table }: Snapshot): Monitoring {
    const { ingest, sync, sweep } = this;
    return new Monitoring(this, 'Monitoring', {
      hub,
      clusters: clusters.length,
      sources: {
        namespace: metricsNamespaceOf(hub.name),
        tableName: table.tableName,
        functionName: (role) => ({ ingest, sync, sweep })[role].function.fn.functionName,
        newVersion: (role) => newVersionOf(this[role].live),
        queueName: (role) => {
          if (role === 'parked' || role === 'quarantine') return this.deadLetters[role].queueName;
          throw new Error(`the hub has no ${role} queue: each cluster has its own`);
        },
      },
    });
  }
}
