/** The app of a cluster's owner, outside of the tree, which knows the hub by its outputs. FIT: what fits templates to the local cloud. */
import { readFileSync } from 'node:fs';
import { App, Aspects, Stack } from 'aws-cdk-lib';
import { FleetCluster, FleetHub } from 'fleet-endpoints';

const { HUB_NAME, HUB_OUTPUTS, ACCOUNT, REGION, FIT } = process.env;
const outputs = JSON.parse(readFileSync(HUB_OUTPUTS, 'utf8'))[`${HUB_NAME}-hub`];
const app = new App({ analyticsReporting: false });
const stack = new Stack(app, 'TeamCluster', { env: { account: ACCOUNT, region: REGION } });

const hub = FleetHub.fromFleetHubAttributes(stack, 'Hub', {
  name: HUB_NAME,
  registerFunctionArn: outputs.RegisterFunctionArn,
  workerFunctionArn: outputs.WorkerFunctionArn,
  workerRoleArn: outputs.WorkerRoleArn,
  sweepRoleArn: outputs.SweepRoleArn,
  parkedQueueUrl: outputs.ParkedQueueUrl,
  quarantineQueueUrl: outputs.QuarantineQueueUrl,
});
new FleetCluster(stack, 'Cluster', {
  hub,
  id: 'team',
  relay: { identity: { type: 'existing-role', roleArn: `arn:aws:iam::${ACCOUNT}:role/team-relay` } },
});

const { fitToEmulator } = await import(FIT);
Aspects.of(app).add(fitToEmulator());
