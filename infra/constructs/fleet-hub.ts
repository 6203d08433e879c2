import { CfnOutput, Stack, Token } from 'aws-cdk-lib';
import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IDependable } from 'constructs';
import type { Config, HubConfig } from '#infra/config/config.ts';
import { configShape } from '#infra/config/config-shape.ts';
import { roleNameOf } from '#infra/config/role-names.ts';
import { readValue } from '#infra/config/yaml-shape.ts';
import { watchBudget } from '#infra/monitoring/budget.ts';
import { Monitoring } from '#infra/monitoring/monitoring.ts';
import { saveQueries } from '#infra/monitoring/queries.ts';
import { onlyThese } from '#infra/stages/cluster-queues.ts';
import { DeadLetters } from '#infra/stages/dead-letters.ts';
import { networkOf } from '#infra/stages/function.ts';
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

export interface FleetHubProps extends HubInput {
  /**
   * The clusters that the hub writes to. Its functions get rights to their credentials. Omitted clusters must be within `access`.
   */
  readonly clusters?: readonly ClusterInput[] | undefined;
  /** The hub's table, if it is in a stack of its own. There it outlives the hub's other resources. */
  readonly table?: FleetTable | undefined;
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

  constructor(scope: Construct, id: string, { clusters = [], table, ...input }: FleetHubProps = {}) {
    super(scope, id);
    const given = { hub: input, clusters };
    this.#config = readValue(`FleetHub ${this.node.path}`, given, configShape, Token.isUnresolved);
    const { hub } = this.#config;
    this.settings = hub;
    this.table = table ?? new FleetTable(this, 'Snapshot', hub);
    const stage = { hub, table: this.table.table };
    const network = hub.vpc && networkOf(this, hub.vpc);
    const reach = { clusters: this.#config.clusters, access: hub.access, network };
    this.deadLetters = new DeadLetters(this, 'DeadLetters', hub.encryption.queues);
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

    watchBudget(this, hub);
    saveQueries(this, hub.name, (role) => this[role].function.fn.logGroup.logGroupName);
    this.#putOut();
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

  missingAccess({ id, api }: Parameters<IFleetHub['missingAccess']>[0]): string | undefined {
    const { access } = this.settings;
    const isKnown = this.#config.clusters.some((c) => c.id === id) || access.roles.length + access.secrets.length > 0;
    return api && !isKnown
      ? `the hub ${this.settings.name} has no right to its credentials: name it in \`clusters\` of FleetHub too, or give \`access\``
      : undefined;
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
    const { hub } = this.#config;
    return new Monitoring(this, 'Monitoring', {
      hub,
      sources: {
        namespace: metricsNamespaceOf(hub.name),
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
