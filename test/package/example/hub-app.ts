/** A platform team's app: a hub in a stack of its own, with one cluster of the team's. */
import { App, Stack } from 'aws-cdk-lib';
import { type ClusterInput, FleetCluster, FleetHub } from 'fleet-endpoints';

const app = new App({ analyticsReporting: false });
const env = { account: '111122223333', region: 'eu-central-1' };
const own: ClusterInput = {
  id: 'factory-1',
  mode: 'active',
  api: { url: 'https://factory-1.example.com:6443', auth: { type: 'web-identity', audience: 'factory-1' } },
  relay: { identity: { type: 'existing-role', roleArn: 'arn:aws:iam::111122223333:role/factory-1-relay' } },
};

const hub = new FleetHub(new Stack(app, 'Platform', { env }), 'Hub', { name: 'Fleet', clusters: [own] });
new FleetCluster(new Stack(app, 'Factory', { env }), 'Relay', { hub, ...own });
