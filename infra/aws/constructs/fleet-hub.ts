import { CfnOutput, Names, Stack, Token } from 'aws-cdk-lib';
import {
  type Dashboard,
  type IAlarm,
  type Metric,
  type MetricOptions,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IDependable } from 'constructs';
import type { Alarms } from '#infra/aws/monitoring/alarm-topics.ts';
import { Monitoring } from '#infra/aws/monitoring/monitoring.ts';
import { saveQueries } from '#infra/aws/monitoring/queries.ts';
import { checkRoom, grantAccessToOneMore } from '#infra/aws/stages/cluster-access.ts';
import { onlyThese } from '#infra/aws/stages/cluster-queues.ts';
import { DeadLetters } from '#infra/aws/stages/dead-letters.ts';
import { tagOwner } from '#infra/aws/stages/owner-tags.ts';
import { Register } from '#infra/aws/stages/register-stage.ts';
import { newVersionOf, Rollout } from '#infra/aws/stages/rollout.ts';
import { Snapshot as FleetTable } from '#infra/aws/stages/snapshot-table.ts';
import type { Network } from '#infra/aws/stages/stage-props.ts';
import { Sweep } from '#infra/aws/stages/sweep-stage.ts';
import { Worker } from '#infra/aws/stages/worker-stage.ts';
import { grantZonalShift } from '#infra/aws/stages/zonal-shift-access.ts';
import type { ClusterConfig, Config, HubConfig } from '#infra/config/config.ts';
import { brokenRule } from '#infra/config/config-rules.ts';
import { configShape } from '#infra/config/config-shape.ts';
import { tooManyOperators } from '#infra/config/hub-shape.ts';
import { roleNameOf } from '#infra/config/role-names.ts';
import { type MetricName, metricsNamespaceOf } from '#shared/contract/metrics.ts';
import { type FleetHubProps, vpcConfig } from './fleet-hub-props.ts';
import { fleetMetric } from './fleet-metric.ts';
import type { IFleetHub } from './hub-interface.ts';
import { type FleetHubAttributes, importedHub } from './imported-hub.ts';
import { arnOf, grantOperating, grantReading } from './operator-rights.ts';
import { readProps } from './read-props.ts';

/**
 * Everything that all clusters share: functions, dead letters, alarms, dashboards, and a table unless one is
 * given.
 */
export class FleetHub extends Construct implements IFleetHub {
  /**
   * A hub that is deployed by another app, in the same account and region: its outputs are the attributes.
   */
  static fromFleetHubAttributes(scope: Construct, id: string, attributes: FleetHubAttributes): IFleetHub {
    return importedHub(scope, id, attributes);
  }

  readonly settings: HubConfig;
  readonly table: FleetTable;
  readonly deadLetters: DeadLetters;
  readonly worker: Worker;
  readonly sweep: Sweep;
  readonly register: Register;
  /** The alarms of the hub by their headings in docs/operate/runbook.md, such as WorkOverdue. */
  readonly alarms: Alarms;
  /** The dashboard of all clusters, and the one on which a cluster is chosen. */
  readonly dashboards: { readonly fleet: Dashboard; readonly cluster: Dashboard };
  /** The operators of the props, and those of grantOperate. */
  readonly #operators: string[];
  readonly #config: Config;
  /** Clusters whose constructs are made. */
  readonly #made = new Map<string, ClusterConfig>();

  constructor(scope: Construct, id: string, props: FleetHubProps = {}) {
    super(scope, id);
    const {
      name = Names.uniqueResourceName(this, { maxLength: 20 }),
      clusters = [],
      table,
      removalPolicy,
      ...rest
    } = props;
    const { vpc, vpcSubnets, securityGroups, httpsProxy, noProxy, ...input } = rest;
    if (!vpc && (vpcSubnets || securityGroups || httpsProxy || noProxy))
      throw new Error(
        `FleetHub ${this.node.path}: vpcSubnets, securityGroups, httpsProxy and noProxy need vpc, which is missing`,
      );
    const { region } = Stack.of(this);
    const given = {
      ...input,
      name,
      ...(!Token.isUnresolved(region) && { region }),
      vpc: vpc && vpcConfig(vpc, rest),
    };
    this.#config = readProps(`FleetHub ${this.node.path}`, { hub: given, clusters }, configShape);
    const { capacity, encryption, ...hub } = this.#config.hub;
    const tableKey = encryption.table && Key.fromKeyArn(this, 'TableKey', encryption.table);
    if (table && (capacity || tableKey || removalPolicy))
      throw new Error(
        `FleetHub ${this.node.path}: table is given, so capacity, encryption.table and removalPolicy belong to FleetTable`,
      );
    this.table =
      table ??
      new FleetTable(this, 'Snapshot', { capacity, encryptionKey: tableKey || undefined, removalPolicy });
    this.#operators = [...hub.operatorRoleArns];
    this.settings = {
      ...this.#config.hub,
      operatorRoleArns: this.#operators,
      encryption: { ...encryption, table: this.table.encryptionKey?.keyArn },
    };
    const stage = { hub: this.settings, table: this.table.table };
    const network: Network | undefined = vpc && {
      vpc,
      vpcSubnets,
      securityGroups: securityGroups && [...securityGroups],
      proxyEnv: {
        ...(httpsProxy && { HTTPS_PROXY: httpsProxy }),
        ...(noProxy && noProxy.length > 0 && { NO_PROXY: noProxy.join(',') }),
      },
    };
    const reach = { clusters: this.#config.clusters, access: hub.access, network };
    this.deadLetters = new DeadLetters(this, 'DeadLetters', encryption.queues);
    this.worker = new Worker(this, 'Worker', { ...stage, deadLetters: this.deadLetters, ...reach });
    this.sweep = new Sweep(this, 'Sweep', { ...stage, snapshot: this.table, ...reach });
    this.register = new Register(this, 'Register', stage);
    // `redrive` resumes the parked work on behalf of the cluster that a message names.
    const senders = () => [this.workerRoleArn, ...this.#operators];
    onlyThese(this.deadLetters.parked, senders);
    onlyThese(this.deadLetters.quarantine, senders);
    const { alarms, dashboards } = this.#monitor();
    this.alarms = alarms;
    this.dashboards = dashboards;
    if (hub.rollout === 'gradual') {
      const rollBackOn = (...names: readonly string[]): IAlarm[] =>
        names.flatMap((name) => alarms[name] ?? []);
      new Rollout(this, 'WorkerRollout', {
        roleName: roleNameOf(hub.name, Stack.of(this).region, 'worker-rollout'),
        live: this.worker.live,
        rollBackOn: rollBackOn('NewWorkerFails', 'MessagesFail'),
      });
    }

    tagOwner(this, hub.name);
    tagOwner(this.table, hub.name);
    saveQueries(this, hub.name, (role) => this[role].function.fn.logGroup.logGroupName);
    this.#putOut();
    if (props.name === undefined) new CfnOutput(this, 'Name', { value: name });
  }

  /** Grants the rights of `explain`, `history`, `cluster list` and `doctor`, which only read. */
  grantRead(grantee: IGrantable): Grant {
    return grantReading(this, grantee);
  }

  /**
   * Grants also the rights of `cluster pause`, `shadow`, `active` and of `redrive`. The grantee is a role or
   * a user, which the queues then admit as a sender.
   */
  grantOperate(grantee: IGrantable): Grant {
    this.#operators.push(arnOf(grantee));
    const wrong = tooManyOperators(this.#operators);
    if (wrong) throw new Error(`FleetHub ${this.node.path}: ${wrong}`);
    return grantOperating(this, grantee);
  }

  /**
   * Returns a metric of all clusters together by its name: the average of a minute, unless the options
   * differ.
   */
  metric(name: MetricName, options: MetricOptions = {}): Metric {
    return fleetMetric(this.settings.name, name, options);
  }

  /** Returns the age of the oldest overdue work in seconds: the maximum of a minute. */
  metricOverdueWork(options: MetricOptions = {}): Metric {
    return this.metric('OldestDirtyAge', { statistic: Stats.MAXIMUM, ...options });
  }

  /**
   * Returns the milliseconds from a sync's due time to its accepted write: the 99th percentile of a minute.
   */
  metricWriteLatency(options: MetricOptions = {}): Metric {
    return this.metric('SyncLatency', { statistic: Stats.percentile(99), ...options });
  }

  get registerFunction(): IFunction {
    return this.register.function.fn;
  }
  get workerFunction(): IFunction {
    return this.worker.function.fn;
  }
  get consumers(): readonly IDependable[] {
    return [this.worker.live];
  }
  get workerRoleArn(): string {
    return this.worker.function.role.roleArn;
  }
  get sweepRoleArn(): string {
    return this.sweep.function.role.roleArn;
  }
  get parkedQueueUrl(): string {
    return this.deadLetters.parked.queueUrl;
  }
  get quarantineQueueUrl(): string {
    return this.deadLetters.quarantine.queueUrl;
  }

  get clusters(): readonly ClusterConfig[] {
    const { clusters } = this.#config;
    const others = [...this.#made.values()].filter(({ id }) => clusters.every((known) => known.id !== id));
    return [...clusters, ...others];
  }

  admit(cluster: ClusterConfig): void {
    const { id } = cluster;
    if (this.#made.has(id))
      throw new Error(
        `the hub ${this.settings.name} has a FleetCluster with the id ${id} already: each cluster needs its own`,
      );
    this.#made.set(id, cluster);
    if (this.#config.clusters.some((known) => known.id === id)) return;
    const { hub } = this.#config;
    const broken = brokenRule({ hub, clusters: this.clusters });
    if (broken) throw new Error(broken);
    checkRoom(this.clusters, hub.access);
    for (const stage of [this.worker, this.sweep]) grantAccessToOneMore(stage.function, cluster, hub.access);
    grantZonalShift(this.sweep.function, [cluster]);
  }

  /** Outputs for operators, relays and FleetHub.fromFleetHubAttributes. */
  #putOut(): void {
    const outputs = {
      TableName: this.table.table.tableName,
      ParkedQueueUrl: this.parkedQueueUrl,
      QuarantineQueueUrl: this.quarantineQueueUrl,
      WorkerRoleArn: this.workerRoleArn,
      SweepRoleArn: this.sweepRoleArn,
      WorkerFunctionArn: this.workerFunction.functionArn,
      RegisterFunctionArn: this.registerFunction.functionArn,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }

  #monitor(): Monitoring {
    const { worker, sweep } = this;
    return new Monitoring(this, 'Monitoring', {
      hub: this.settings,
      sources: {
        namespace: metricsNamespaceOf(this.settings.name),
        tableName: this.table.table.tableName,
        functionName: (role) => ({ worker, sweep })[role].function.fn.functionName,
        logGroupName: (role) => this[role].function.fn.logGroup.logGroupName,
        newVersion: (role) => newVersionOf(this[role].live),
        queueName: (role) => {
          if (role === 'parked' || role === 'quarantine') return this.deadLetters[role].queueName;
          throw new Error(`the hub has no ${role} queue: each cluster has its own`);
        },
      },
    });
  }
}
