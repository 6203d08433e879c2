/** A developer's app in JavaScript: hub and cluster in one stack, without names. */
import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { FleetCluster, FleetHub, FleetTable } from 'fleet-endpoints';

const app = new App({ analyticsReporting: false });
const stack = new Stack(app, 'Development', { env: { account: '111122223333', region: 'eu-central-1' } });
const key = new Key(stack, 'Key');
const table = new FleetTable(stack, 'Table', { encryptionKey: key, removalPolicy: RemovalPolicy.DESTROY });
const hub = new FleetHub(stack, 'Hub', { table, encryption: { queues: key } });
new FleetCluster(stack, 'Cluster', {
  hub,
  id: 'kind',
  relay: { identity: { type: 'pod-identity', clusterName: 'kind' } },
});
