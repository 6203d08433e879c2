import assert from 'node:assert/strict';
import { hubAlarms } from '#infra/aws/monitoring/alarms.ts';
import { clusterAlarms } from '#infra/aws/monitoring/cluster-alarms.ts';
import { deployedConsole } from './deployed-console.ts';
import type { Deployment } from './deployment.ts';
import { largeFleet } from './large-fleet.ts';
import { lostTable } from './lost-table.ts';
import { eventually, run } from './operator.ts';
import { ownersApp } from './owners-app.ts';
import { pageCommand } from './page-command.ts';
import { ServedCluster } from './served-cluster.ts';
import type { Step } from './step.ts';

/** From an empty account to nothing but the table; each step needs those before it. */
export function firstDay(
  hub: Deployment,
  canary: Deployment,
  atEnd: (ending: () => Promise<unknown>) => void,
): readonly Step[] {
  const { cloud, folder } = hub;
  let shop: ServedCluster;
  let blog: ServedCluster;
  /** Until this time the functions met a lost table, and logged it. */
  let repairedAt = 0;

  async function newCluster(id: string): Promise<ServedCluster> {
    const cluster = await ServedCluster.start(id, cloud, folder);
    atEnd(() => cluster.stop());
    return cluster;
  }

  /** Installs a deployed cluster until its first heartbeat: the manifest, the writer's token, the relay. */
  async function join(cluster: ServedCluster, to = hub, differences = '0'): Promise<void> {
    const manifest = await to.manifest(cluster.id, '--quick-start');
    await cluster.apply(manifest);
    await cluster.putToken();
    await cluster.startRelay(manifest);
    await eventually(`the first lists of ${cluster.id}`, async () => {
      const listed = await to.cluster('list');
      if (
        new RegExp(
          `^${cluster.id} +shadow +off +\\d+ s ago +applied +closed +${differences} +\\S+ +v1\\.\\d+\\.\\d+$`,
          'm',
        ).test(listed)
      )
        return true;
      throw new Error(`${listed}; the relay:\n${await cluster.relayLog()}`);
    });
  }

  async function goActive(cluster: ServedCluster, on = hub): Promise<void> {
    await eventually(`all of ${cluster.id} is ready but its own controllers`, async () => {
      await assert.rejects(
        on.cluster('active', cluster.id, '--quiet-for', '1'),
        /stays shadow until its own controllers are off/,
      );
      return true;
    });
    await cluster.switchBuiltInControllersOff();
    // The ten quiet minutes are not required again, because no controller writes now.
    await on.cluster('active', cluster.id, '--controllers-off');
  }

  return [
    {
      fact: 'an account is bootstrapped',
      async check() {
        shop = await newCluster('shop');
        hub.configure([shop]);
        await hub.cdk('bootstrap', `aws://${cloud.account}/${cloud.region}`);
      },
    },
    {
      fact: 'cdk deploy makes the hub and its first cluster, and the runbook’s second line finds its table',
      async check() {
        await hub.deploy();
        const stack = { 'FleetEndpoints-hub': hub.hubStack };
        const found = await pageCommand(cloud, 'export TABLE_NAME=$(aws cloudformation describe-stacks', {
          values: stack,
          next: 'echo $TABLE_NAME',
        });
        assert.equal(found.trim(), (await hub.outputs(hub.hubStack))['TableName']);
      },
    },
    {
      fact: 'every alarm and both dashboards are there',
      async check() {
        const { MetricAlarms } = (await cloud.call('cloudwatch', 'describe_alarms')) as {
          MetricAlarms: readonly { AlarmDescription: string }[];
        };
        const wanted = [...hubAlarms(1000), ...clusterAlarms('ticket')].map(({ meaning }) => meaning);
        assert.deepEqual(
          wanted.filter(
            (meaning) => !MetricAlarms.some((a) => a.AlarmDescription.includes(`${meaning}. What to do`)),
          ),
          [],
        );
        assert.equal(MetricAlarms.length, wanted.length);
        const { DashboardEntries } = (await cloud.call('cloudwatch', 'list_dashboards')) as {
          DashboardEntries: readonly object[];
        };
        assert.equal(DashboardEntries.length, 2);
      },
    },
    {
      fact: 'the API server takes the relay’s manifest in a server-side dry run, with an image and as the quick start',
      async check() {
        await run('npm', ['run', '-s', 'build'], { env: cloud.administrator });
        await shop.createNamespace();
        for (const how of [['--image', 'registry.example.com/relay:1'], ['--quick-start']]) {
          const answer = await shop.dryRun(await hub.manifest(shop.id, ...how));
          assert.match(answer, /^deployment.apps\/relay serverside-applied \(server dry run\)$/m);
        }
      },
    },
    {
      fact: 'a cluster in shadow mode shows no difference to what its own controllers write',
      async check() {
        await shop.addReadyPod('web-1', '10.1.0.1');
        await join(shop);
        await shop.addReadyPod('web-2', '10.1.0.2');
        await shop.untilAddresses(['10.1.0.1', '10.1.0.2']);
        assert.match(await hub.cluster('list'), /^shop +shadow .* closed +0 +\S+ +v1\./m);
      },
    },
    {
      fact: 'it goes active once its own controllers are off and a preflight has passed, and that is on record',
      async check() {
        await goActive(shop);
        assert.match(await hub.cluster('audit', shop.id), /shop .* shadow → active \(active\)/);
      },
    },
    {
      fact: 'a pod made ready is in Endpoints and slices, through the deployed functions',
      async check() {
        await shop.addReadyPod('web-3', '10.1.0.3');
        await shop.untilAddresses(['10.1.0.1', '10.1.0.2', '10.1.0.3']);
        const explained = await hub.command('explain', [shop.id, 'default/web', 'web-3'], 'for the hub');
        assert.match(explained, /web-3/);
      },
    },
    deployedConsole(hub, 'shop'),
    ownersApp(hub),
    {
      fact: 'the relay may send to its own events queue, and nothing else',
      async check() {
        const { EventsQueueUrl, SyncsQueueUrl } = await hub.outputs(hub.clusterStack(shop.id));
        const { TableName } = await hub.outputs(hub.hubStack);
        const relay = (service: string, operation: string, parameters: object): Promise<unknown> =>
          cloud.call(service, operation, parameters, shop.relayIdentity);
        await assert.doesNotReject(
          relay('sqs', 'send_message', {
            QueueUrl: EventsQueueUrl,
            MessageBody: 'not one of ours: it is quarantined',
          }),
        );
        const key = { pk: { S: 'CLUSTERS' }, sk: { S: shop.id } };
        for (const [service, operation, parameters] of [
          ['sqs', 'send_message', { QueueUrl: SyncsQueueUrl, MessageBody: '{}' }],
          ['sqs', 'receive_message', { QueueUrl: EventsQueueUrl }],
          ['dynamodb', 'get_item', { TableName, Key: key }],
          ['secretsmanager', 'get_secret_value', { SecretId: 'writer-shop' }],
        ] as const) {
          await assert.rejects(relay(service, operation, parameters), /AccessDenied/);
        }
      },
    },
    {
      fact: 'whoever may use all of SQS in the account does not speak for a cluster',
      async check() {
        const UserName = 'insider';
        const all = {
          Version: '2012-10-17',
          Statement: [{ Effect: 'Allow', Action: 'sqs:*', Resource: '*' }],
        };
        await cloud.call('iam', 'create_user', { UserName });
        await cloud.call('iam', 'put_user_policy', {
          UserName,
          PolicyName: 'queues',
          PolicyDocument: JSON.stringify(all),
        });
        const { AccessKey } = (await cloud.call('iam', 'create_access_key', { UserName })) as {
          readonly AccessKey: { readonly AccessKeyId: string; readonly SecretAccessKey: string };
        };
        const insider = {
          AWS_ACCESS_KEY_ID: AccessKey.AccessKeyId,
          AWS_SECRET_ACCESS_KEY: AccessKey.SecretAccessKey,
        };
        const { EventsQueueUrl, SyncsQueueUrl } = await hub.outputs(hub.clusterStack(shop.id));
        const { ParkedQueueUrl } = await hub.outputs(hub.hubStack);
        await assert.doesNotReject(
          cloud.call(
            'sqs',
            'get_queue_attributes',
            { QueueUrl: ParkedQueueUrl, AttributeNames: ['All'] },
            insider,
          ),
        );
        for (const QueueUrl of [EventsQueueUrl, SyncsQueueUrl])
          await assert.rejects(
            cloud.call('sqs', 'send_message', { QueueUrl, MessageBody: '{}' }, insider),
            /AccessDenied/,
          );
      },
    },
    {
      fact: 'a second cluster is added by configuration and a second deploy, and the first stays as it is',
      async check() {
        blog = await newCluster('blog');
        hub.configure([shop, blog]);
        await hub.deploy();
        await blog.createNamespace();
        await join(blog);
        await goActive(blog);
        await blog.addReadyPod('web-1', '10.2.0.1');
        await blog.untilAddresses(['10.2.0.1']);
        assert.match(await hub.cluster('list'), /^shop +active .* applied +closed/m);
      },
    },
    ...lostTable(hub, () => [
      { cluster: shop, addresses: ['10.1.0.1', '10.1.0.2', '10.1.0.3'] },
      { cluster: blog, addresses: ['10.2.0.1'] },
    ]),
    {
      fact: 'the first is removed: its endpoints stay as they were, and the second is served on',
      async check() {
        repairedAt = Date.now();
        await hub.cdk('destroy', hub.clusterStack(shop.id), '--force');
        hub.configure([blog]);
        await shop.addReadyPod('web-4', '10.1.0.4');
        await blog.addReadyPod('web-2', '10.2.0.2');
        await blog.untilAddresses(['10.2.0.1', '10.2.0.2']);
        assert.deepEqual((await shop.addresses()).endpoints, ['10.1.0.1', '10.1.0.2', '10.1.0.3']);
        assert.match(await hub.cluster('list'), /^shop +draining: the hub does not write to it since /m);
        assert.match(await hub.cluster('audit', shop.id), /CloudFormation, .* taken out: draining/);
      },
    },
    {
      fact: 'a cluster moves to a second hub of the same account, as a canary for a new version does',
      async check() {
        canary.configure([blog]);
        await canary.deploy();
        await hub.cluster('pause', blog.id);
        await blog.stopRelay();
        await join(blog, canary);
        await goActive(blog, canary);
        await blog.addReadyPod('web-3', '10.2.0.3');
        await blog.untilAddresses(['10.2.0.1', '10.2.0.2', '10.2.0.3']);
        assert.match(await hub.cluster('list'), /^blog +paused /m);
      },
    },
    {
      fact: 'the first is removed once it has drained: nothing of it is left in the table but its record and its audits',
      async check() {
        // Two minutes after it was taken out, and then the next run of sweep.
        await eventually('shop is removed', async () => /^shop +removed /m.test(await hub.cluster('list')));
        const { TableName } = await hub.outputs(hub.hubStack);
        const { Items } = (await cloud.call('dynamodb', 'scan', { TableName })) as {
          Items: readonly { pk: { S: string }; sk: { S: string } }[];
        };
        const ofShop = Items.filter(
          ({ pk, sk }) => pk.S.startsWith('shop#') || pk.S === 'CLUSTER#shop' || sk.S === 'shop',
        );
        assert.deepEqual(
          ofShop
            .map(({ pk, sk }) => `${pk.S} ${sk.S}`)
            .filter((key) => !key.includes('AUDIT#'))
            .sort(),
          ['CLUSTER#shop META', 'CLUSTERS shop'],
        );
        assert.ok(Items.some(({ pk }) => pk.S.startsWith('blog#')));
        assert.match(await hub.cluster('audit', shop.id), /draining → removed/);
        assert.deepEqual((await shop.addresses()).endpoints, ['10.1.0.1', '10.1.0.2', '10.1.0.3']);
      },
    },
    {
      fact: 'added again it begins anew: first lists, shadow mode, and then what it missed is made up for',
      async check() {
        await shop.stopRelay();
        hub.configure([shop, blog]);
        await hub.deploy();
        await join(shop, hub, '[0-9]+');
        assert.deepEqual((await shop.addresses()).endpoints, ['10.1.0.1', '10.1.0.2', '10.1.0.3']);
        await hub.cluster('active', shop.id, '--override');
        await shop.untilAddresses(['10.1.0.1', '10.1.0.2', '10.1.0.3', '10.1.0.4']);
      },
    },
    ...largeFleet(hub, () => [shop, blog], ['10.1.0.1', '10.1.0.2', '10.1.0.3', '10.1.0.4'], atEnd),
    {
      fact: 'no function was refused anything, sweep has published ages, and the message that was not ours is in quarantine',
      async check() {
        await eventually('a run of sweep', async () =>
          (await hub.logLines()).some(
            (line) => line.includes('"_aws"') && line.includes('RelayHeartbeatAge'),
          ),
        );
        const lines = await hub.logLines();
        assert.deepEqual(
          (await hub.logLines(repairedAt)).filter((line) =>
            /AccessDenied|not authorized|"level":"error"/.test(line),
          ),
          [],
        );
        assert.equal(lines.filter((line) => line.includes('events message quarantined')).length, 1);
      },
    },
    {
      fact: 'cdk destroy leaves the table, with what it knows, and the endpoints',
      async check() {
        const { TableName } = await hub.outputs(hub.hubStack);
        for (const each of [canary, hub]) {
          await assert.rejects(
            each.cdk('destroy', '--all', '--concurrency', '20', '--force'),
            /TerminationProtection/,
          );
          await pageCommand(cloud, 'aws cloudformation update-termination-protection', {
            values: { 'HUB-snapshot': each.snapshotStack },
          });
          await each.cdk('destroy', each.snapshotStack, '--force');
        }
        const { Functions } = (await cloud.call('lambda', 'list_functions')) as {
          Functions: readonly object[];
        };
        assert.equal(Functions.length, 0);
        // The local cloud does not keep the deletion protection of global tables; test/infra asserts it on
        // the template.
        const { Table } = (await cloud.call('dynamodb', 'describe_table', { TableName })) as {
          Table: { TableStatus: string };
        };
        assert.equal(Table.TableStatus, 'ACTIVE');
        // Taking forty stacks away lasts longer than a cluster drains.
        assert.match(await hub.cluster('list'), /^blog +(draining: |removed )/m);
        assert.deepEqual((await blog.addresses()).endpoints, ['10.2.0.1', '10.2.0.2', '10.2.0.3']);
      },
    },
  ];
}
