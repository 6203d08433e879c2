import { Stack } from 'aws-cdk-lib';
import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge-finding.ts';

/** The alias that event source mappings invoke: a constant name for the live version. */
export const liveAlias = 'live';

export interface RolloutProps {
  readonly roleName: string;
  readonly live: Alias;
  /** Any of them sends all invocations back to the version before. */
  readonly rollBackOn: readonly IAlarm[];
}

/** A new version of a function takes over in steps of a tenth a minute, and not at all when it fails. */
export class Rollout extends Construct {
  constructor(scope: Construct, id: string, { roleName, live, rollBackOn }: RolloutProps) {
    super(scope, id);
    const role = this.#serviceRole(roleName, live);
    const group = new LambdaDeploymentGroup(this, 'Group', {
      alias: live,
      application: new LambdaApplication(this, 'Application'),
      // AWS's managed policy for it is for every function of the account.
      role: role.withoutPolicyUpdates(),
      deploymentConfig: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_1MINUTE,
      alarms: [...rollBackOn],
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    // The rights are there before the first shift begins.
    group.node.addDependency(role);
  }

  #serviceRole(roleName: string, live: Alias): Role {
    const role = new Role(this, 'Role', {
      roleName,
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
      description: 'shifts invocations from one version of a function to the next',
    });
    const { functionArn } = live.lambda;
    const allow = (resources: string[], ...actions: string[]): void =>
      void role.addToPolicy(new PolicyStatement({ effect: Effect.ALLOW, actions, resources }));
    // AWSCodeDeployRoleForLambdaLimited also has s3:GetObject, for an AppSpec in a bucket. CloudFormation
    // gives CodeDeploy the AppSpec itself.
    allow(
      [functionArn, `${functionArn}:${liveAlias}`],
      'lambda:GetAlias',
      'lambda:UpdateAlias',
      'lambda:GetProvisionedConcurrencyConfig',
    );
    allow(['*'], 'cloudwatch:DescribeAlarms');
    acknowledge(
      role,
      'AwsSolutions-IAM5[Resource::*]',
      'CodeDeploy asks for its alarms by name, and AWS’s own policy for it says the same',
    );
    return role;
  }
}

/**
 * Dimensions of the version's metrics under the alias. Without a reference to the alias, whose update waits
 * for the alarm that looks at them.
 */
export function newVersionOf({ version, lambda: { functionName } }: Alias): { [dimension: string]: string } {
  return {
    FunctionName: functionName,
    Resource: `${functionName}:${liveAlias}`,
    ExecutedVersion: version.version,
  };
}
