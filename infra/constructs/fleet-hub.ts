import { CfnOutput, Names, type RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IDependable } from 'constructs';
import type { ClusterConfig, Config, HubConfig, VpcConfig } from '#infra/config/config.ts';
import { brokenRule } from '#infra/config/config-rules.ts';
import { configShape } from '#infra/config/config-shape.ts';
import { roleNameOf } from '#infra/config/role-names.ts';
import { watchBudget } from '#infra/monitoring/budget.ts';
import { Monitoring } from '#infra/monitoring/monitoring.ts';
import { saveQueries } from '#infra/monitoring/queries.ts';
import { checkRoom, grantAccessToOneMore } from '#infra/stages/cluster-access.ts';
import { onlyThese } from '#infra/stages/cluster-queues.ts';
import { DeadLetters } from '#infra/stages/dead-letters.ts';
import type { Network } from '#infra/stages/function.ts';
import { Ingest } from '#infra/stages/ingest-stage.ts';
import { Register } from '#infra/stages/register-stage.ts';
import { newVersionOf, Rollout } from '#infra/stages/rollout.ts';
import { Snapshot as FleetTable } from '#infra/stages/snapshot-table.ts';
import { Sweep } from '#infra/stages/sweep-stage.ts';
import { Sync } from '#infra/stages/sync-stage.ts';
import { metricsNamespaceOf } from '#shared/contract/metrics.ts';
import type { IFleetHub } from './hub-interface.ts';
import { type FleetHubAttributes, importedHub } from './imported-hub.ts';
import type { ClusterInput, HubInput } from './props.ts';
import { readProps } from './read-props.ts';

export interface FleetHubProps extends HubInput {
  /**
   * The name begins the names of queues, roles, functions' logs and dashboards. It has 1 to 20 letters and digits, and begins with a letter.
   * @default - made of the stack's name and the construct's path
   */
  readonly name?: string | undefined;
  /** The hub writes to these clusters of other apps, besides each FleetCluster of this app. Patterns of `access` serve the same purpose. @default [] */
  readonly clusters?: readonly ClusterInput[] | undefined;
  /** The hub uses this table. In a stack of its own a table outlives the hub's other resources. @default - a table of the hub's own */
  readonly table?: FleetTable | undefined;
  /** With DESTROY the hub's own table is deleted with its stack, without deletion protection. @default RemovalPolicy.RETAIN */
  readonly removalPolicy?: RemovalPolicy | undefined;
  /** Sync and sweep run in this VPC, to reach private API servers. @default - no VPC */
  readonly vpc?: IVpc | undefined;
  /** Sync and sweep are in these subnets of the VPC, which have routes to the API servers and to AWS. @default - the private subnets */
  readonly vpcSubnets?: SubnetSelection | undefined;
  /** Sync and sweep have these security groups. @default - a group of its own for each function */
  readonly securityGroups?: readonly ISecurityGroup[] | undefined;
  /** In the VPC sync and sweep use this proxy (http://HOST:PORT) for all HTTPS: AWS and the API servers. @default - no proxy */
  readonly httpsProxy?: string | undefined;
  /** Sync and sweep reach these hosts without the proxy. @default [] */
  readonly noProxy?: readonly string[] | undefined;
}

/** Everything that all clusters share: functions, dead letters, alarms, dashboards, and a table unless one is given. */
export class FleetHub extends Construct implements IFleetHub {
  /** A hub that is deployed by another app, in the same account and region: its outputs are the attributes. */
  static fromAttributes(scope: Construct, id: string, attributes: FleetHubAttributes): IFleetHub {
    return importedHub(scope, id, attributes);
  }

  readonly settings: HubConfig;
  readonly table: FleetTable;
  readonly deadLetters: DeadLetters;
  readonly ingest: Ingest;
  readonly sync: Sync;
  readonly sweep: Sweep;
  readonly register: Register;
  readonly #config: Config;
  /** Clusters whose constructs are made. */
  readonly #made = new Map<string, ClusterConfig>();

  constructor(scope: Construct, id: string, props: FleetHubProps = {}) {
    super(scope, id);
    const { name = Names.uniqueResourceName(this, { maxLength: 20 }), clusters = [], table, removalPolicy, ...rest } = props;
    const { vpc, vpcSubnets, securityGroups, httpsProxy, noProxy, ...input } = rest;
    const { region } = Stack.of(this);
    const given = { ...input, name, ...(!Token.isUnresolved(region) && { region }), vpc: vpc && vpcConfig(vpc, rest) };
    this.#config = readProps(`FleetHub ${this.node.path}`, { hub: given, clusters }, configShape);
    const { capacity, warmThroughput, encryption, ...hub } = this.#config.hub;
    const tableKey = encryption.table && Key.fromKeyArn(this, 'TableKey', encryption.table);
    if (table && (capacity || warmThroughput || tableKey || removalPolicy))
      throw new Error(
        `FleetHub ${this.node.path}: table is given, so capacity, warmThroughput, encryption.table and removalPolicy belong to FleetTable`,
      );
    this.table = table ?? new FleetTable(this, 'Snapshot', { capacity, warmThroughput, encryptionKey: tableKey || undefined, removalPolicy });
    this.settings = { ...this.#config.hub, encryption: { ...encryption, table: this.table.encryptionKey?.keyArn } };
    const stage = { hub: this.settings, table: this.table.table };
    const network: Network | undefined = vpc && {
      vpc,
      vpcSubnets,
      securityGroups: securityGroups && [...securityGroups],
      proxyEnv: { ...(httpsProxy && { HTTPS_PROXY: httpsProxy }), ...(noProxy && noProxy.length > 0 && { NO_PROXY: noProxy.join(',') }) },
    };
    const reach = { clusters: this.#config.clusters, access: hub.access, network };
    this.deadLetters = new DeadLetters(this, 'DeadLetters', encryption.queues);
    this.ingest = new Ingest(this, 'Ingest', { ...stage, deadLetters: this.deadLetters });
    this.sync = new Sync(this, 'Sync', { ...stage, deadLetters: this.deadLetters, ...reach });
    this.sweep = new Sweep(this, 'Sweep', { ...stage, snapshot: this.table, ...reach });
    this.register = new Register(this, 'Register', stage);
    // `redrive` resumes the parked work on behalf of the cluster that a message names.
    const senders = [this.syncRoleArn, ...hub.operatorRoleArns];
    onlyThese(this.deadLetters.parked, senders);
    onlyThese(this.deadLetters.quarantine, [this.ingestRoleArn, ...senders]);
    const { alarms } = this.#monitor();
    if (hub.rollout === 'gradual') {
      const rollBackOn = (...names: readonly string[]): IAlarm[] => names.flatMap((name) => alarms.get(name) ?? []);
      for (const [id, stage, alarm] of [
        ['IngestRollout', 'ingest', 'NewIngestFails'],
        ['SyncRollout', 'sync', 'NewSyncFails'],
      ] as const) {
        const roleName = roleNameOf(hub.name, Stack.of(this).region, `${stage}-rollout`);
        new Rollout(this, id, { roleName, live: this[stage].live, rollBackOn: rollBackOn(alarm, 'MessagesFail') });
      }
    }

    watchBudget(this, this.settings);
    saveQueries(this, hub.name, (role) => this[role].function.fn.logGroup.logGroupName);
    this.#putOut();
    if (props.name === undefined) new CfnOutput(this, 'Name', { value: name });
  }

  get registerFunction(): IFunction {
    return this.register.function.fn;
  }
  get ingestFunction(): IFunction {
    return this.ingest.function.fn;
  }
  get syncFunction(): IFunction {
    return this.sync.function.fn;
  }
  get consumers(): readonly IDependable[] {
    return [this.ingest.live, this.sync.live];
  }
  get ingestRoleArn(): string {
    return this.ingest.function.role.roleArn;
  }
  get syncRoleArn(): string {
    return this.sync.function.role.roleArn;
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

  admit(cluster: ClusterConfig): void {
    const { id } = cluster;
    const [former, { clusters }] = [this.#made.get(id), this.#config];
    if (former) throw new Error(`the hub ${this.settings.name} has a FleetCluster with the id ${id} already: each cluster needs its own`);
    this.#made.set(id, cluster);
    if (clusters.some((known) => known.id === id)) return;
    const others = [...this.#made.values()].filter((made) => clusters.every((known) => known.id !== made.id));
    const all = { hub: this.#config.hub, clusters: [...clusters, ...others] };
    const broken = brokenRule(all);
    if (broken) throw new Error(broken);
    checkRoom(all.clusters, all.hub.access);
    for (const stage of [this.sync, this.sweep]) grantAccessToOneMore(stage.function, cluster, all.hub.access);
  }

  /** Outputs for operators, relays and FleetHub.fromAttributes. */
  #putOut(): void {
    const outputs = {
      TableName: this.table.table.tableName,
      ParkedQueueUrl: this.parkedQueueUrl,
      QuarantineQueueUrl: this.quarantineQueueUrl,
      SyncRoleArn: this.syncRoleArn,
      SweepRoleArn: this.sweepRoleArn,
      IngestRoleArn: this.ingestRoleArn,
      IngestFunctionArn: this.ingestFunction.functionArn,
      SyncFunctionArn: this.syncFunction.functionArn,
      RegisterFunctionArn: this.registerFunction.functionArn,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }

  #monitor(): Monitoring {
    const { ingest, sync, sweep } = this;
    return new Monitoring(this, 'Monitoring', {
      hub: this.settings,
      sources: {
        namespace: metricsNamespaceOf(this.settings.name),
        tableName: this.table.table.tableName,
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

/** As clusters.yaml has it. */
function vpcConfig(vpc: IVpc, { vpcSubnets, securityGroups = [], httpsProxy, noProxy }: FleetHubProps): Partial<VpcConfig> {
  const { subnetIds } = vpc.selectSubnets(vpcSubnets);
  return {
    vpcId: vpc.vpcId,
    subnetIds,
    securityGroupIds: securityGroups.map((group) => group.securityGroupId),
    ...(httpsProxy !== undefined && { httpsProxy }),
    ...(noProxy && { noProxy }),
  };
}
