/**
 * The rights of the people who run the commands: the rows of docs/operate/security.md, "With the commands' rights".
 */
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { keyUse, useOfKeys } from '#infra/aws/stages/customer-keys.ts';
import type { DeadLetters } from '#infra/aws/stages/dead-letters.ts';
import { queueOfAllClusters } from '#infra/aws/stages/queue-arns.ts';
import type { HubConfig } from '#infra/config/config.ts';

export interface Operated extends Construct {
  readonly settings: Pick<HubConfig, 'name' | 'encryption'>;
  readonly table: { readonly table: { readonly tableArn: string }; readonly dirtyIndexArn: string };
  readonly deadLetters: DeadLetters;
}

const readActions = ['GetItem', 'BatchGetItem', 'Query'] as const;
const writeActions = ['PutItem', 'UpdateItem'] as const;
/**
 * Keys of the records with each cluster's API, credentials and queues. Only register and administrators write
 * them (stages/function.ts).
 */
const ofRegister = ['CLUSTERS', 'QUEUE#*', 'ACCESS#*'];

export function grantReading(hub: Operated, grantee: IGrantable): Grant {
  const { table: key } = hub.settings.encryption;
  const { table, dirtyIndexArn } = hub.table;
  if (key)
    grantee.grantPrincipal.addToPrincipalPolicy(
      useOfKeys(hub, [key], { ...keyUse.table, actions: ['kms:Decrypt', 'kms:DescribeKey'] }),
    );
  return Grant.addToPrincipal({
    grantee,
    actions: readActions.map((o) => `dynamodb:${o}`),
    resourceArns: [table.tableArn, dirtyIndexArn],
  });
}

export function grantOperating(hub: Operated, grantee: IGrantable): Grant {
  const { name, encryption } = hub.settings;
  for (const what of ['table', 'queues'] as const) {
    const key = encryption[what];
    if (key) grantee.grantPrincipal.addToPrincipalPolicy(useOfKeys(hub, [key], keyUse[what]));
  }
  const { parked, quarantine } = hub.deadLetters;
  const [events, syncs, ...dead] = (['events', 'syncs', 'events-dead', 'syncs-dead'] as const).map((role) =>
    queueOfAllClusters(hub, name, role),
  );
  const sqs = (resourceArns: string[], ...actions: readonly string[]): Grant =>
    Grant.addToPrincipal({ grantee, resourceArns, actions: actions.map((action) => `sqs:${action}`) });
  const writes = Grant.addToPrincipal({
    grantee,
    actions: writeActions.map((o) => `dynamodb:${o}`),
    resourceArns: [hub.table.table.tableArn],
    conditions: {
      'ForAllValues:StringNotLike': { 'dynamodb:LeadingKeys': ofRegister },
      // ForAllValues holds for a request without the key too.
      Null: { 'dynamodb:LeadingKeys': 'false' },
    },
  });
  return grantReading(hub, grantee)
    .combine(writes)
    .combine(sqs([events as string, syncs as string], 'SendMessage', 'GetQueueAttributes'))
    .combine(
      sqs(
        [...dead, parked.queueArn, quarantine.queueArn],
        'ReceiveMessage',
        'ChangeMessageVisibility',
        'DeleteMessage',
      ),
    );
}

/** Throws for a grantee without an ARN, because the queues' policies name each sender by its ARN. */
export function arnOf(grantee: IGrantable): string {
  const [arn] = [grantee.grantPrincipal.policyFragment.principalJson['AWS']].flat();
  if (typeof arn !== 'string')
    throw new Error(`${grantee.grantPrincipal} has no ARN in IAM: a role or a user is needed`);
  return arn;
}
