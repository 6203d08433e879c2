import assert from 'node:assert/strict';
import { eventually } from '#test/e2e/deploy/operator.ts';
import { pageCommand } from '#test/e2e/deploy/page-command.ts';
import type { ServedCluster } from '#test/e2e/deploy/served-cluster.ts';
import type { Step } from '#test/e2e/deploy/step.ts';
import type { LocalCloud } from '#test/support/aws/local-cloud.ts';
import type { EksCluster } from './eks.ts';
import type { EksResource, OwnersHub } from './owners-hub.ts';

export interface SecondHubParts {
  readonly cloud: LocalCloud;
  readonly first: OwnersHub;
  readonly second: OwnersHub;
  /** Deploys the second hub with the clusters of the first, and has API servers trust the roles of both. */
  readonly deployed: (second: OwnersHub) => Promise<readonly EksResource[]>;
  /** Has EKS's authenticator know the roles of all access entries. */
  readonly mapEntries: () => Promise<void>;
  /** Installs the relay of a hub, and waits for the first lists. */
  readonly admit: (cluster: ServedCluster, to: OwnersHub) => Promise<void>;
  readonly restartRelay: (manifest: string) => Promise<void>;
  readonly clusters: () => {
    readonly shop: ServedCluster;
    readonly factory: ServedCluster;
    readonly eks: EksCluster;
  };
}

/**
 * The steps of docs/operate/upgrading.md, "A canary cluster first": two clusters move to a second hub, and one of
 * them moves back.
 */
export function secondHub({
  cloud,
  first,
  second,
  deployed,
  mapEntries,
  admit,
  restartRelay,
  clusters,
}: SecondHubParts): readonly Step[] {
  const optedIn = new Set<string>();

  /** Pauses the clusters, and waits until no worker of the hub may write. */
  async function pause(hub: OwnersHub, ...ids: readonly string[]): Promise<void> {
    const ends = await Promise.all(
      ids.map(async (id) =>
        Date.parse(/may still write until (\S+):/.exec(await hub.command('cluster', 'pause', id))?.[1] ?? ''),
      ),
    );
    assert.ok(ends.every((end) => end > Date.now()));
    await eventually('the last lease ends', async () => Date.now() > Math.max(...ends));
  }

  /** By the page's commands. */
  async function giveAssociation(to: OwnersHub): Promise<void> {
    const { eks } = clusters();
    const listed = JSON.parse(
      await pageCommand(cloud, 'aws eks list-pod-identity-associations', { values: { C: eks.name } }),
    );
    const [{ associationId }] = listed.associations;
    const values = { C: eks.name, A: associationId, ROLE: await to.relayRole('shop') };
    await pageCommand(cloud, 'aws eks update-pod-identity-association', { values });
  }

  async function addOptedIn(ip: string): Promise<void> {
    await clusters().shop.addReadyPod(`moved-${ip.replaceAll('.', '-')}`, ip);
    optedIn.add(ip);
  }

  const served = (hub: OwnersHub): Promise<unknown> =>
    eventually('the slice of the service that opts in', async () => {
      const found = await clusters().shop.sliceAddresses('opted');
      if (found.join() === [...optedIn].sort().join()) return true;
      throw new Error(
        `there are ${found} of ${[...optedIn]}; ${await hub.command('explain', 'shop', 'default/opted')}`,
      );
    });

  return [
    {
      fact: 'a second hub of the same app is deployed beside the first, and does not own EKS’s association; EKS would refuse a second one',
      async check() {
        const { shop, eks } = clusters();
        for (const ip of await shop.sliceAddresses('opted')) optedIn.add(ip);
        const resources = await deployed(second);
        assert.deepEqual(
          resources.map(({ type }) => type),
          ['AWS::EKS::AccessEntry', 'AWS::EKS::AccessEntry'],
        );
        await eks.make(resources);
        await mapEntries();
        const own = {
          namespace: 'fleet-endpoints',
          serviceAccount: 'relay',
          clusterName: eks.name,
          roleArn: await second.relayRole('shop'),
        };
        const refused = eks.make([
          { stack: second.stack, type: 'AWS::EKS::PodIdentityAssociation', properties: own },
        ]);
        await assert.rejects(refused, /ResourceInUseException.*Association already exists/);
      },
    },
    {
      fact: 'the first hub pauses the clusters, and says until when it may write, for Services that opt in too',
      async check() {
        const { factory } = clusters();
        await pause(first, 'shop', 'factory');
        await factory.stopRelay();
        await factory.addReadyPod('web-2', '10.1.0.2');
        await addOptedIn('10.2.0.51');
      },
    },
    {
      fact: 'a relay whose association still has the first hub’s role is refused by the second hub’s queue, and logs why',
      async check() {
        const { shop } = clusters();
        const manifest = await second.manifest('shop');
        await shop.apply(manifest);
        await restartRelay(manifest);
        await eventually('the refusal', async () =>
          /AccessDenied|not authorized/.test(await shop.relayLog()),
        );
        await shop.stopRelay();
      },
    },
    {
      fact: 'with the page’s commands the association has the second hub’s role, and both clusters are served by the second hub',
      async check() {
        const { shop, factory } = clusters();
        await giveAssociation(second);
        await Promise.all([admit(shop, second), admit(factory, second)]);
        await second.command(
          'cluster',
          'active',
          'factory',
          '--controllers-off',
          '--quiet-for',
          '1',
          '--override',
        );
        await factory.untilAddresses(['10.1.0.1', '10.1.0.2']);
        await served(second);
        const listed = await first.command('cluster', 'list');
        assert.match(listed, /^factory +paused /m);
        assert.match(listed, /^shop +paused /m);
        assert.doesNotMatch(await second.command('cluster', 'list'), /WriterConflict|second writer/);
      },
    },
    {
      fact: 'the EKS cluster moves back by the same steps, and the first hub writes what changed meanwhile',
      async check() {
        const { shop } = clusters();
        await pause(second, 'shop');
        await shop.stopRelay();
        await addOptedIn('10.2.0.52');
        await giveAssociation(first);
        await admit(shop, first);
        await first.command('cluster', 'shadow', 'shop');
        await served(first);
        assert.match(await second.command('cluster', 'list'), /^shop +paused /m);
      },
    },
  ];
}
