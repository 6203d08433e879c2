import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterInput } from '#infra/aws/constructs/props.ts';
import { eventually } from '#test/e2e/deploy/operator.ts';
import { ServedCluster, issuer as serviceAccountIssuer } from '#test/e2e/deploy/served-cluster.ts';
import type { Step } from '#test/e2e/deploy/step.ts';
import { type EksAuthenticator, startEksAuthenticator } from '#test/support/aws/eks-authenticator.ts';
import type { LocalCloud } from '#test/support/aws/local-cloud.ts';
import { type PodIdentityAgent, startPodIdentityAgent } from '#test/support/aws/pod-identity-agent.ts';
import { startStsStandIn } from '#test/support/aws/sts-stand-in.ts';
import {
  authenticationConfiguration,
  startTokenIssuer,
  type TokenIssuer,
} from '#test/support/aws/token-issuer.ts';
import { type ConnectProxy, connectProxy } from '#test/support/network/connect-proxy.ts';
import { EksCluster } from './eks.ts';
import { eksRefusals } from './eks-refusals.ts';
import { leaving } from './leaving.ts';
import { startStsOf } from './outbound-web-identity.ts';
import { OwnersApp, OwnersHub } from './owners-hub.ts';
import { secondHub } from './second-hub.ts';

/**
 * Capacity of the second hub. The local cloud provisions `min`; it lacks the Application Auto Scaling that
 * raises it.
 */
const provisioned = { minReads: 5, maxReads: 50, minWrites: 7, maxWrites: 70 };

/**
 * A hub by the package's constructs, its ways into clusters (EKS, web identity, a proxy, private
 * authorities), and a second hub that its clusters move to.
 */
export function waysIn(
  cloud: LocalCloud,
  folder: string,
  atEnd: (ending: () => unknown) => void,
): readonly Step[] {
  const app = new OwnersApp(cloud, join(folder, 'owners-hub'));
  const hub = new OwnersHub(app, 'WaysIn', 'Platform');
  const canary = new OwnersHub(app, 'Canary', 'Canary');
  const authenticationFile = join(folder, 'authentication.yaml');
  let shop: ServedCluster;
  let factory: ServedCluster;
  let eks: EksCluster;
  let authenticator: EksAuthenticator;
  let agent: PodIdentityAgent;
  let issuer: TokenIssuer;
  let proxy: ConnectProxy;
  const writers = async () => ({ clusterName: 'shop', groups: await eks.groups() });

  async function startEks(): Promise<void> {
    eks = await EksCluster.create(cloud, 'shop');
    const sts = await startStsStandIn(cloud);
    atEnd(() => sts.close());
    authenticator = await startEksAuthenticator({ clusterName: 'shop', groups: {} }, sts);
    atEnd(() => authenticator.stop());
    shop = await ServedCluster.start('shop', cloud, folder);
    atEnd(() => shop.stop());
    await restartApiServer(shop, authenticator.apiServerFlags);
    agent = await startPodIdentityAgent(cloud, shop.controlPlane, 'shop');
    atEnd(() => agent.close());
  }

  /**
   * Writes the file of getting-started with the roles of these hubs. A kube-apiserver that runs reads it
   * again.
   */
  async function trust(...hubs: readonly OwnersHub[]): Promise<void> {
    const roles = (stage: 'worker' | 'sweep'): string => hubs.map((each) => each.roleArn(stage)).join('", "');
    await writeFile(
      authenticationFile,
      await authenticationConfiguration({
        issuer,
        worker: roles('worker'),
        sweep: roles('sweep'),
        audience: 'factory',
      }),
    );
  }

  async function startFactory(): Promise<void> {
    issuer = await startTokenIssuer();
    atEnd(() => issuer.close());
    factory = await ServedCluster.start('factory', cloud, folder, 'off');
    atEnd(() => factory.stop());
    await trust(hub);
    await restartApiServer(factory, [`--authentication-config=${authenticationFile}`]);
  }

  /** The addresses of STS for the functions of a hub. */
  async function stsOf(on: OwnersHub): Promise<{ readonly worker: string; readonly sweep: string }> {
    const [worker, sweep] = await Promise.all(
      (['worker', 'sweep'] as const).map((stage) => startStsOf(on.roleArn(stage), cloud, issuer)),
    );
    for (const sts of [worker, sweep]) atEnd(() => sts?.close());
    return { worker: worker?.url ?? '', sweep: sweep?.url ?? '' };
  }

  async function admit(cluster: ServedCluster, to = hub): Promise<void> {
    const manifest = await to.manifest(cluster.id);
    await cluster.apply(manifest);
    await cluster.startRelay(manifest, {
      program: app.relayProgram,
      podIdentity: cluster === shop ? agent : undefined,
    });
    await eventually(`the first lists of ${cluster.id}`, async () => {
      const listed = await to.command('cluster', 'list');
      if (new RegExp(`^${cluster.id} .* applied `, 'm').test(listed)) return true;
      throw new Error(`${listed}; the relay:\n${await cluster.relayLog()}`);
    });
  }

  const identity = {
    type: 'irsa',
    oidcProviderArn: `arn:aws:iam::${cloud.account}:oidc-provider/${serviceAccountIssuer}`,
  } as const;
  function clustersOf(
    owner: 'owns the association' | 'does not own it',
  ): readonly [ClusterInput, ClusterInput] {
    const { server: shopUrl, ca: shopCa = '' } = shop.controlPlane.connection;
    const { server: factoryUrl, ca: factoryCa = '' } = factory.controlPlane.connection;
    const elsewhere = owner === 'does not own it' ? { association: false, region: cloud.region } : {};
    return [
      {
        id: 'shop',
        optIn: 'active',
        api: { url: shopUrl, ca: shopCa, auth: { type: 'eks', clusterName: 'shop', accessEntry: true } },
        relay: {
          identity: { type: 'pod-identity', clusterName: 'shop', ...elsewhere },
          extraEnv: [{ name: 'HTTPS_PROXY', value: proxy.url }],
        },
      },
      {
        id: 'factory',
        // The hub that a cluster moves to only compares at first.
        mode: owner === 'owns the association' ? 'active' : 'shadow',
        api: { url: factoryUrl, ca: factoryCa, auth: { type: 'web-identity', audience: 'factory' } },
        relay: { identity },
      },
    ];
  }
  const vpcOf = () => ({
    vpcId: 'vpc-0123456789abcdef0',
    subnetIds: ['subnet-0123456789abcdef0'],
    securityGroupIds: ['sg-0123456789abcdef0'],
    httpsProxy: proxy.url,
    noProxy: [new URL(factory.controlPlane.connection.server).host],
  });

  return [
    {
      fact: 'an app outside of the tree deploys a hub and its clusters by the package’s constructs',
      async check() {
        await Promise.all([app.install(), startEks(), startFactory()]);
        proxy = await connectProxy();
        atEnd(() => proxy.close());
        const [ofShop, ofFactory] = clustersOf('owns the association');
        // With the authority of another cluster.
        const mistaken: ClusterInput = {
          id: 'mistaken',
          optIn: 'shadow',
          api: { ...ofFactory.api!, ca: shop.controlPlane.connection.ca ?? '' },
          relay: { identity },
        };
        await app.bootstrap();
        await eks.make(
          await hub.deploy({
            hub: {},
            vpc: vpcOf(),
            clusters: [ofShop, ofFactory, mistaken],
            stsOf: await stsOf(hub),
          }),
        );
        await authenticator.configure(await writers());
      },
    },
    {
      fact: 'the hub writes to an API server that knows its roles by the file of getting-started',
      async check() {
        await admit(factory);
        await factory.addReadyPod('web-1', '10.1.0.1');
        await factory.untilAddresses(['10.1.0.1']);
      },
    },
    {
      fact: 'the hub writes to an API server behind aws-iam-authenticator, for Services that opt in; EKS’s association gives the relay its role',
      async check() {
        await shop.api.create('Service', 'default', {
          metadata: { name: 'opted', annotations: { 'fleet-endpoints/selector': 'app=web' } },
          spec: { ports: [{ port: 80, targetPort: 8080 }] },
        });
        await admit(shop);
        await shop.addReadyPod('web-1', '10.2.0.1');
        await eventually('the slice of the service that opts in', async () => {
          const found = await shop.sliceAddresses('opted');
          if (found.join() === '10.2.0.1') return true;
          throw new Error(
            `there are ${found}; ${await hub.command('cluster', 'list')}; ${await hub.command('explain', 'shop', 'default/opted')}`,
          );
        });
      },
    },
    {
      fact: 'relay and functions use the proxy, but for the hosts that are excepted, and a relay reaches its own API server directly',
      async check() {
        const authority = (cluster: ServedCluster): string =>
          new URL(cluster.controlPlane.connection.server).host;
        const asked = new Set(proxy.asked);
        assert.deepEqual([asked.has(authority(shop)), asked.has(authority(factory))], [true, false]);
        assert.ok(asked.has(new URL(cloud.url).host));
      },
    },
    ...eksRefusals({ cloud, hub, writers, shop: () => shop, authenticator: () => authenticator }),
    {
      fact: 'an API server of another authority is refused, with the reason',
      async check() {
        await eventually(
          // Sweep tries it once a minute, and on a busy machine some tries end before STS has answered.
          'the reason',
          async () => {
            await assert.rejects(
              hub.command('cluster', 'opt-in', 'mistaken', 'active'),
              /self-signed certificate/,
            );
            return true;
          },
          600_000,
        );
      },
    },
    ...secondHub({
      cloud,
      first: hub,
      second: canary,
      deployed: async (second) => {
        await trust(hub, second);
        return second.deploy({
          hub: { capacity: provisioned },
          vpc: vpcOf(),
          clusters: clustersOf('does not own it'),
          stsOf: await stsOf(second),
        });
      },
      mapEntries: async () => authenticator.configure(await writers()),
      admit,
      clusters: () => ({ shop, factory, eks }),
      restartRelay: async (manifest) => {
        await shop.stopRelay();
        await shop.startRelay(manifest, { program: app.relayProgram, podIdentity: agent });
      },
    }),
    {
      fact: 'the table of a hub with hub.capacity has its least units',
      async check() {
        const { Table } = (await cloud.call('dynamodb', 'describe_table', {
          TableName: await canary.output('TableName'),
        })) as {
          Table: { ProvisionedThroughput: { WriteCapacityUnits: number } };
        };
        assert.equal(Table.ProvisionedThroughput.WriteCapacityUnits, provisioned.minWrites);
      },
    },
    leaving(cloud, [hub, canary], () => eks),
  ];
}

async function restartApiServer({ controlPlane }: ServedCluster, flags: readonly string[]): Promise<void> {
  await controlPlane.apiServer.stop();
  await controlPlane.apiServer.start(flags);
}
