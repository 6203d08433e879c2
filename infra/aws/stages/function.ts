import { type Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import {
  Alias,
  Architecture,
  Function as LambdaFunction,
  LoggingFormat,
  type RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { FunctionName } from '#infra/bundle-options.ts';
import type { HubConfig } from '#infra/config/config.ts';
import { roleNameOf } from '#infra/config/role-names.ts';
import { hubEnv } from '#shared/contract/env.ts';
import { acknowledge } from './acknowledge-finding.ts';
import { keyUse, useOfKeys } from './customer-keys.ts';
import { functionCode } from './function-code.ts';
import { liveAlias } from './rollout.ts';
import type { Network, StageProps } from './stage-props.ts';

export interface HubFunctionProps extends StageProps {
  readonly code: FunctionName;
  readonly description: string;
  readonly memoryMiB: number;
  readonly timeout: Duration;
  /** Set for a function that emits metrics. */
  readonly clusterMetrics?: HubConfig['clusterMetrics'];
  readonly recursiveLoop?: RecursiveLoop;
  /**
   * Set for asynchronous invocations: the reason for the missing dead-letter queue, and the limits of
   * Lambda's own retries.
   */
  readonly asynchronous?: { readonly why: string; readonly retries?: number; readonly maxAge?: Duration };
  readonly network?: Network | undefined;
}

/**
 * The one place for runtime, architecture, bundling, logs and the role. The role uses no managed policy of
 * AWS. Its stage grants each action, and test/infra/permissions.test.ts lists them.
 */
export class HubFunction extends Construct {
  readonly fn: LambdaFunction;
  readonly role: Role;
  readonly #keys: HubConfig['encryption'];

  constructor(scope: Construct, id: string, props: HubFunctionProps) {
    super(scope, id);
    const { hub, table } = props;
    this.#keys = hub.encryption;
    const logGroup = new LogGroup(this, 'Logs', {
      // The bill finds it by name in an app whose stacks have names of their own.
      logGroupName: `${hub.name}-${props.code}`,
      retention: hub.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(hub.encryption.logs && { encryptionKey: Key.fromKeyArn(this, 'LogsKey', hub.encryption.logs) }),
    });
    this.role = new Role(this, 'Role', {
      roleName: roleNameOf(hub.name, Stack.of(this).region, props.code),
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: props.description,
    });
    logGroup.grantWrite(this.role);
    if (props.network) this.#allowNetworkInterfaces();

    const { vpc, vpcSubnets, securityGroups } = props.network ?? {};
    this.fn = new LambdaFunction(this, 'Function', {
      code: functionCode(props.code),
      handler: 'index.handler',
      description: props.description,
      role: this.role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      // Lambda logs nothing about successful invocations. Duration and errors are metrics, and each line
      // costs money.
      systemLogLevelV2: SystemLogLevel.WARN,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMiB,
      timeout: props.timeout,
      ...(props.recursiveLoop && { recursiveLoop: props.recursiveLoop }),
      ...(vpc && { vpc, ...(vpcSubnets && { vpcSubnets }), ...(securityGroups && { securityGroups }) }),
      environment: {
        [hubEnv.tableName]: table.tableName,
        [hubEnv.hubName]: hub.name,
        ...(props.clusterMetrics && { [hubEnv.clusterMetrics]: props.clusterMetrics }),
        NODE_OPTIONS: '--enable-source-maps',
        ...props.network?.proxyEnv,
      },
    });
    acknowledge(
      this.fn,
      'Serverless-LambdaTracing',
      'latency of each hop is a metric of its own (IngestLatency, QueueLatency, SyncLatency); traces would sample what is counted in full',
    );
    const { asynchronous } = props;
    if (asynchronous?.retries !== undefined) {
      this.fn.configureAsyncInvoke({
        retryAttempts: asynchronous.retries,
        ...(asynchronous.maxAge && { maxEventAge: asynchronous.maxAge }),
      });
      acknowledge(this.fn, 'Serverless-LambdaAsyncFailureDestination', asynchronous.why);
    }
    acknowledge(
      this.fn,
      'Serverless-LambdaDLQ',
      asynchronous?.why ??
        'a dead-letter target serves asynchronous calls only; the queues that invoke this function have their own dead-letter queues',
    );
  }

  /** The version of this deploy, under the name by which it is invoked. */
  makeLive(): Alias {
    return new Alias(this, 'Live', {
      aliasName: liveAlias,
      version: this.fn.currentVersion,
      description: 'what is invoked',
    });
  }

  /**
   * Grants operations on the table. Functions use keys and partitions; sweep alone scans, for the records of
   * clusters that have left.
   */
  grantTable(tableArn: string, ...operations: readonly TableAction[]): void {
    this.allow([tableArn], ...operations.map((o) => `dynamodb:${o}`));
  }

  /**
   * Denies all writes of the records that register alone writes: which clusters there are, whose each queue
   * is, and where each API is. Sync sends each cluster's token to the address in these records.
   */
  denyIdentity(tableArn: string): void {
    this.role.addToPolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        actions: ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
        resources: [tableArn],
        conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [...identityKeys] } },
      }),
    );
  }

  /**
   * Where table and queues are encrypted with keys of the customer's own, whose policies must let this
   * account's roles use them.
   */
  useKeys(...what: readonly (keyof typeof keyUse)[]): void {
    for (const each of what) {
      const key = this.#keys[each];
      if (key) this.role.addToPolicy(useOfKeys(this, [key], keyUse[each]));
    }
  }

  allow(resources: readonly string[], ...actions: readonly string[]): void {
    this.role.addToPolicy(
      new PolicyStatement({ effect: Effect.ALLOW, actions: [...actions], resources: [...resources] }),
    );
  }

  #allowNetworkInterfaces(): void {
    this.allow(['*'], ...networkInterfaces);
    // They are for Lambda itself. Calls of the function's own code carry the function's ARN, Lambda's do not.
    this.role.addToPolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        actions: [...networkInterfaces],
        resources: ['*'],
        conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
      }),
    );
    acknowledge(
      this.role,
      'AwsSolutions-IAM5[Resource::*]',
      'Lambda makes network interfaces in the VPC under this role, and their ARNs are not known before; AWS’s own policy for it says the same',
    );
  }
}

const networkInterfaces = [
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
] as const;

/** Partition keys of the records that no function but register writes (shared/store/keys.ts). */
export const identityKeys = ['CLUSTERS', 'IMPORTERS', 'QUEUE#*', 'ACCESS#*'] as const;

export type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'Scan';
