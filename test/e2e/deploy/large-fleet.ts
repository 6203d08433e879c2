import assert from 'node:assert/strict';
import type { Deployment, UnservedCluster } from './deployment.ts';
import { eventually } from './operator.ts';
import type { ServedCluster } from './served-cluster.ts';
import type { Step } from './step.ts';
import { startUnreachableApi } from './unreachable-api.ts';

/** Number of clusters without a relay, in a fleet of forty. */
const unservedClusters = 38;

/**
 * Creates a fleet of mostly unserved clusters, half of them behind an API server that never answers: work for
 * one cluster must not wait for another. `served` are two active clusters, the first with the given
 * addresses.
 */
export function largeFleet(
  hub: Deployment,
  served: () => readonly [ServedCluster, ServedCluster],
  addresses: readonly string[],
  atEnd: (ending: () => Promise<unknown>) => void,
): readonly Step[] {
  const { cloud } = hub;
  return [
    {
      fact: `a fleet of ${unservedClusters + 2} clusters is deployed on one hub`,
      async check() {
        const unreachable = await startUnreachableApi();
        atEnd(() => unreachable.stop());
        const [shop] = served();
        const { server, ca } = shop.controlPlane.connection;
        const { ARN: secretArn } = (await cloud.call('secretsmanager', 'create_secret', {
          Name: 'writer-of-nobody',
          SecretString: '{"token":"of nobody"}',
        })) as { ARN: string };
        const unserved = Array.from({ length: unservedClusters }, (_, i): UnservedCluster => {
          const id = `fleet-${i}`;
          return i % 2 === 0
            ? { id, url: unreachable.url, ca, secretArn }
            : { id, url: server, ca, secretArn };
        });
        hub.configure(served(), unserved);
        await hub.deploy();
        const listed = await hub.cluster('list');
        assert.equal(listed.match(/^fleet-\d+ +shadow /gm)?.length, unservedClusters, listed);
      },
    },
    {
      fact: 'sweep ends in time with half of the fleet out of reach, and tells the state of every cluster',
      async check() {
        const from = Date.now();
        await eventually('the ages of all clusters within one run of sweep', async () => {
          const lines = (await hub.logLines(from)).filter(
            (line) => line.includes('"_aws"') && line.includes('OldestDirtyAge'),
          );
          const told = new Set(
            lines.flatMap(
              (line) => (JSON.parse(line.slice(line.indexOf('{'))) as { cluster?: string }).cluster ?? [],
            ),
          );
          return told.size === unservedClusters + 2;
        });
        const lines = await hub.logLines(from);
        assert.deepEqual(
          lines.filter((line) => /Task timed out|"level":"error"/.test(line)),
          [],
        );
      },
    },
    {
      fact: 'the clusters that are served are served on',
      async check() {
        const [shop] = served();
        const ip = '10.1.0.40';
        await shop.addReadyPod('web-40', ip);
        await shop.untilAddresses([...addresses, ip].sort());
      },
    },
  ];
}
