import assert from 'node:assert/strict';
import type { Deployment } from './deployment.ts';
import { eventually } from './operator.ts';
import { pageCommand } from './page-command.ts';
import type { ServedCluster } from './served-cluster.ts';
import type { Step } from './step.ts';

/**
 * The runbook's commands for a table that is lost, cut out of "The table is lost, or wrong". `served`: active
 * clusters, with their addresses.
 */
export function lostTable(
  hub: Deployment,
  served: () => readonly { readonly cluster: ServedCluster; readonly addresses: readonly string[] }[],
): readonly Step[] {
  const { cloud } = hub;
  const tableName = async (): Promise<string> => (await hub.outputs(hub.hubStack))['TableName'] ?? '';
  const page = async (command: Parameters<typeof pageCommand>[1], values = {}): Promise<string> =>
    pageCommand(cloud, command, { values, env: { TABLE_NAME: await tableName() } });

  /** Fails without the first command, as the table is protected once the page's steps have been followed. */
  async function deleteTable(): Promise<void> {
    await page('aws dynamodb update-table --table-name $TABLE_NAME --no-deletion-protection-enabled');
    await page('aws dynamodb delete-table');
  }

  async function giveSettings(): Promise<void> {
    await page('until aws dynamodb wait table-exists');
    await page('aws dynamodb update-table --table-name $TABLE_NAME --deletion-protection-enabled');
    await page('aws dynamodb update-continuous-backups');
    await page('aws dynamodb update-time-to-live');
    await assert.rejects(page('aws dynamodb delete-table'), /protected against deletion/);
  }

  async function restartRelays(): Promise<void> {
    for (const { cluster } of served())
      await cluster.restartRelay(await hub.manifest(cluster.id, '--quick-start'));
  }

  /** The clusters are active, their endpoints are what they were, and go with the pods. */
  async function allIsServed(more: string): Promise<void> {
    for (const { cluster, addresses } of served()) {
      await eventually(`${cluster.id} is active, its first lists applied`, async () => {
        const listed = await hub.cluster('list');
        if (new RegExp(`^${cluster.id} +active .* applied +closed`, 'm').test(listed)) return true;
        throw new Error(`${listed}; the relay:\n${await cluster.relayLog()}`);
      });
      assert.deepEqual((await cluster.addresses()).endpoints, addresses);
      const ip = `${addresses[0]?.replace(/\.\d+$/, '')}.${more}`;
      await cluster.addReadyPod(`web-${more}`, ip);
      await cluster.untilAddresses([...addresses, ip].sort());
      await cluster.removePod(`web-${more}`);
      await cluster.untilAddresses(addresses);
    }
  }

  return [
    {
      fact: 'a table that was deleted comes back under its name from its backup, and is filled again by the clusters',
      async check() {
        const TableName = await tableName();
        // On AWS it is the system's own backup of a table that had point-in-time recovery.
        const { BackupDetails } = (await cloud.call('dynamodb', 'create_backup', {
          TableName,
          BackupName: 'before',
        })) as {
          BackupDetails: { BackupArn: string };
        };
        await deleteTable();
        await page('aws dynamodb restore-table-from-backup', { ARN: BackupDetails.BackupArn });
        await giveSettings();
        await hub.cluster('rebuild', '--all');
        await restartRelays();
        await allIsServed('201');
      },
    },
    {
      fact: 'a table that was deleted and has no backup is made empty, told its clusters by one command, and filled again by them',
      async check() {
        await deleteTable();
        await page('aws dynamodb create-table');
        await giveSettings();
        await hub.register();
        await restartRelays();
        for (const { cluster } of served()) {
          await eventually(`the first lists of ${cluster.id}`, async () =>
            new RegExp(`^${cluster.id} .* applied `, 'm').test(await hub.cluster('list')),
          );
          await hub.cluster('active', cluster.id, '--override');
        }
        await allIsServed('202');
      },
    },
    {
      fact: 'a queue that was changed by hand is found by `cdk drift`, and a deploy without a change does not put it right',
      async check() {
        const [first] = served();
        const stack = hub.clusterStack(first?.cluster.id ?? '');
        const { EventsQueueUrl: QueueUrl } = await hub.outputs(stack);
        const setTimeout = (VisibilityTimeout: string): Promise<unknown> =>
          cloud.call('sqs', 'set_queue_attributes', { QueueUrl, Attributes: { VisibilityTimeout } });
        const timeout = async (): Promise<string | undefined> => {
          const attributes = await cloud.call('sqs', 'get_queue_attributes', {
            QueueUrl,
            AttributeNames: ['VisibilityTimeout'],
          });
          return (attributes as { Attributes: { VisibilityTimeout?: string } }).Attributes.VisibilityTimeout;
        };
        const before = await timeout();
        assert.ok(before);
        await setTimeout('7');
        assert.match(await hub.cdk('drift', stack), /VisibilityTimeout/);
        await hub.cdk('deploy', stack, '--exclusively', '--require-approval', 'never');
        assert.equal(await timeout(), '7');
        await setTimeout(before);
        assert.doesNotMatch(await hub.cdk('drift', stack), /VisibilityTimeout/);
      },
    },
  ];
}
