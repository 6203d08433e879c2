import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterInput } from '#infra/constructs/props.ts';
import { writerGroup } from '#infra/relay/relay-names.ts';
import { eventually } from '#test/deploy/operator.ts';
import { ServedCluster, issuer as serviceAccountIssuer } from '#test/deploy/served-cluster.ts';
import type { Step } from '#test/deploy/step.ts';
import { type ConnectProxy, connectProxy } from '#test/support/connect-proxy.ts';
import { type EksAuthenticator, startEksAuthenticator } from '#test/support/eks-authenticator.ts';
import type { LocalCloud } from '#test/support/local-cloud.ts';
import { startStsStandIn } from '#test/support/sts-stand-in.ts';
import { authenticationConfiguration, startTokenIssuer } from '#test/support/token-issuer.ts';
import { eksRefusals } from './eks-refusals.ts';
import { startStsOf } from './outbound-web-identity.ts';
import { OwnersHub } from './owners-hub.ts';

/** A hub by the package's constructs, and its ways into clusters: EKS, web identity, a proxy, private authorities. */
export function waysIn(cloud: LocalCloud, folder: string, atEnd: (ending: () => unknown) => void): readonly Step[] {
  const hub = new OwnersHub('WaysIn', cloud, join(folder, 'owners-hub'));
  const roles = [hub.roleArn('sync'), hub.roleArn('sweep')];
  const writers = { clusterName: 'shop', groups: Object.fromEntries(roles.map((role) => [role, [writerGroup]])) };
  let shop: ServedCluster;
  let factory: ServedCluster;
  let authenticator: EksAuthenticator;
  let proxy: ConnectProxy;

  async function startEks(): Promise<void> {
    const sts = await startStsStandIn(cloud);
    atEnd(() => sts.close());
    authenticator = await startEksAuthenticator(writers, sts);
    atEnd(() => authenticator.stop());
    shop = await ServedCluster.start('shop', cloud, folder);
    atEnd(() => shop.stop());
    await restartApiServer(shop, authenticator.apiServerFlags);
  }

  async function startFactory(): Promise<{ readonly sync: string; readonly sweep: string }> {
    const issuer = await startTokenIssuer();
    atEnd(() => issuer.close());
    factory = await ServedCluster.start('factory', cloud, folder, 'off');
    atEnd(() => factory.stop());
    const file = join(folder, 'authentication.yaml');
    await writeFile(file, await authenticationConfiguration({ issuer, sync: hub.roleArn('sync'), sweep: hub.roleArn('sweep'), audience: 'factory' }));
    await restartApiServer(factory, [`--authentication-config=${file}`]);
    const [sync, sweep] = await Promise.all((['sync', 'sweep'] as const).map((stage) => startStsOf(hub.roleArn(stage), cloud, issuer)));
    for (const sts of [sync, sweep]) atEnd(() => sts?.close());
    return { sync: sync?.url ?? '', sweep: sweep?.url ?? '' };
  }

  async function admit(cluster: ServedCluster): Promise<void> {
    const manifest = await hub.manifest(cluster.id);
    await cluster.apply(manifest);
    await cluster.startRelay(manifest, hub.relayProgram);
    await eventually(`the first lists of ${cluster.id}`, async () => {
      const listed = await hub.command('cluster', 'list');
      if (new RegExp(`^${cluster.id} .* applied `, 'm').test(listed)) return true;
      throw new Error(`${listed}; the relay:\n${await cluster.relayLog()}`);
    });
  }

  return [
    {
      fact: 'an app outside of the tree deploys a hub and its clusters by the package’s constructs',
      async check() {
        const [, , stsOf] = await Promise.all([hub.install(), startEks(), startFactory()]);
        proxy = await connectProxy();
        atEnd(() => proxy.close());
        const identity = { type: 'irsa', oidcProviderArn: `arn:aws:iam::${cloud.account}:oidc-provider/${serviceAccountIssuer}` } as const;
        const { server: shopUrl, ca: shopCa = '' } = shop.controlPlane.connection;
        const { server: factoryUrl, ca: factoryCa = '' } = factory.controlPlane.connection;
        const clusters: readonly ClusterInput[] = [
          {
            id: 'shop',
            optIn: 'active',
            api: { url: shopUrl, ca: shopCa, auth: { type: 'eks', clusterName: 'shop' } },
            relay: { identity, extraEnv: [{ name: 'HTTPS_PROXY', value: proxy.url }] },
          },
          {
            id: 'factory',
            mode: 'active',
            api: { url: factoryUrl, ca: factoryCa, auth: { type: 'web-identity', audience: 'factory' } },
            relay: { identity },
          },
          // With the authority of another cluster.
          {
            id: 'mistaken',
            optIn: 'shadow',
            api: { url: factoryUrl, ca: shopCa, auth: { type: 'web-identity', audience: 'factory' } },
            relay: { identity },
          },
        ];
        await hub.bootstrap();
        const vpc = { vpcId: 'vpc-0123456789abcdef0', subnetIds: ['subnet-0123456789abcdef0'], securityGroupIds: ['sg-0123456789abcdef0'] };
        await hub.deploy({ vpc: { ...vpc, httpsProxy: proxy.url, noProxy: [new URL(factoryUrl).host] } }, clusters, stsOf);
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
      fact: 'the hub writes to an API server behind aws-iam-authenticator, for Services that opt in',
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
          throw new Error(`there are ${found}; ${await hub.command('cluster', 'list')}; ${await hub.command('explain', 'shop', 'default/opted')}`);
        });
      },
    },
    {
      fact: 'relay and functions use the proxy, but for the hosts that are excepted, and a relay reaches its own API server directly',
      async check() {
        const authority = (cluster: ServedCluster): string => new URL(cluster.controlPlane.connection.server).host;
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
          'the reason',
          async () => {
            await assert.rejects(hub.command('cluster', 'opt-in', 'mistaken', 'active'), /self-signed certificate/);
            return true;
          },
          120_000,
        );
      },
    },
  ];
}

async function restartApiServer({ controlPlane }: ServedCluster, flags: readonly string[]): Promise<void> {
  await controlPlane.apiServer.stop();
  await controlPlane.apiServer.start(flags);
}
