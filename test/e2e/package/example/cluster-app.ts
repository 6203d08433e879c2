/** The app of a cluster's owner, who knows the hub by its outputs. */
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { FleetCluster, FleetHub } from 'fleet-endpoints';

const app = new App({ analyticsReporting: false });
const stack = new Stack(app, 'ShopDev', { env: { account: '111122223333', region: 'eu-central-1' } });
const lambda = (name: string): string => `arn:aws:lambda:eu-central-1:111122223333:function:${name}`;
const role = (name: string): string => `arn:aws:iam::111122223333:role/${name}`;
const queue = (name: string): string => `https://sqs.eu-central-1.amazonaws.com/111122223333/${name}`;

const hub = FleetHub.fromFleetHubAttributes(stack, 'Hub', {
  name: 'Fleet',
  registerFunctionArn: lambda('register'),
  workerFunctionArn: lambda('worker'),
  workerRoleArn: role('worker'),
  sweepRoleArn: role('sweep'),
  parkedQueueUrl: queue('parked'),
  quarantineQueueUrl: queue('quarantine'),
});
const cluster = new FleetCluster(stack, 'Cluster', {
  hub,
  id: 'shop-dev',
  relay: { identity: { type: 'pod-identity', clusterName: 'shop-dev' } },
});
new CfnOutput(stack, 'Queue', { value: cluster.queues.events.queueUrl });
