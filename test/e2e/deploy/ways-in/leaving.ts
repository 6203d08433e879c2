import assert from 'node:assert/strict';
import { pageCommand } from '#test/e2e/deploy/page-command.ts';
import type { Step } from '#test/e2e/deploy/step.ts';
import type { LocalCloud } from '#test/support/aws/local-cloud.ts';
import type { EksCluster } from './eks.ts';
import type { OwnersHub } from './owners-hub.ts';

/**
 * The end of "Removing a cluster" in docs/operate/getting-started.md, by its commands: what a destroyed hub leaves
 * behind goes too.
 */
export function leaving(cloud: LocalCloud, hubs: readonly OwnersHub[], eks: () => EksCluster): Step {
  return {
    fact: 'cdk destroy leaves tables, secrets, associations and providers, and the page’s commands delete them',
    async check() {
      const tables = await Promise.all(hubs.map((hub) => hub.output('TableName')));
      const { SecretList } = (await cloud.call('secretsmanager', 'list_secrets')) as {
        SecretList: readonly { ARN: string }[];
      };
      const { OpenIDConnectProviderArn } = (await cloud.call('iam', 'create_open_id_connect_provider', {
        Url: 'https://oidc.example.com/factory',
        ClientIDList: ['sts.amazonaws.com'],
      })) as { OpenIDConnectProviderArn: string };
      // The cluster keeps the slices of its Service that opts in.
      for (const hub of hubs) await hub.command('cluster', 'opt-in', 'shop', 'off', '--abandon');
      await hubs[0]?.app.destroy();

      for (const TABLE_NAME of tables) {
        await pageCommand(
          cloud,
          'aws dynamodb update-table --table-name $TABLE_NAME --no-deletion-protection-enabled',
          { env: { TABLE_NAME } },
        );
        await pageCommand(cloud, 'aws dynamodb delete-table', { env: { TABLE_NAME } });
      }
      for (const { ARN } of SecretList)
        await pageCommand(cloud, 'aws secretsmanager delete-secret', { values: { SECRET_ARN: ARN } });
      const listed = JSON.parse(
        await pageCommand(cloud, 'aws eks list-pod-identity-associations', { values: { C: eks().name } }),
      );
      for (const { associationId } of listed.associations)
        await pageCommand(cloud, 'aws eks delete-pod-identity-association', {
          values: { C: eks().name, A: associationId },
        });
      await pageCommand(cloud, 'aws iam delete-open-id-connect-provider', {
        values: { PROVIDER_ARN: OpenIDConnectProviderArn },
      });

      const left = async (
        service: string,
        operation: string,
        parameters: object,
        list: string,
      ): Promise<readonly unknown[]> =>
        ((await cloud.call(service, operation, parameters)) as { [name: string]: readonly unknown[] })[
          list
        ] ?? [];
      assert.deepEqual(await left('dynamodb', 'list_tables', {}, 'TableNames'), []);
      assert.deepEqual(await left('secretsmanager', 'list_secrets', {}, 'SecretList'), []);
      assert.deepEqual(
        await left('eks', 'list_pod_identity_associations', { clusterName: eks().name }, 'associations'),
        [],
      );
      assert.deepEqual(
        await left('iam', 'list_open_id_connect_providers', {}, 'OpenIDConnectProviderList'),
        [],
      );
      assert.deepEqual(await left('lambda', 'list_functions', {}, 'Functions'), []);
      assert.deepEqual(await left('sqs', 'list_queues', {}, 'QueueUrls'), []);
    },
  };
}
