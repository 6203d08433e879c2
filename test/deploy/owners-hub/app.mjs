/** A platform team's app, outside of the tree: a hub and its clusters by the package's constructs. FIT: what fits templates to the local cloud. */
import { readFileSync } from 'node:fs';
import { App, Aspects, Stack } from 'aws-cdk-lib';
import { FleetCluster, FleetHub } from 'fleet-endpoints';

const { ACCOUNT, REGION, FIT, STS_OF } = process.env;
const { hub: input, clusters } = JSON.parse(readFileSync(new URL('fleet.json', import.meta.url), 'utf8'));
const app = new App({ analyticsReporting: false });
const stack = new Stack(app, 'Platform', { env: { account: ACCOUNT, region: REGION } });
const hub = new FleetHub(stack, 'Hub', { ...input, clusters });
for (const cluster of clusters) new FleetCluster(stack, `Cluster-${cluster.id}`, { hub, ...cluster });

const { fitToEmulator } = await import(FIT);
Aspects.of(app).add(fitToEmulator());
// The local cloud's tokens for outbound web identity have no signature of an issuer.
for (const [stage, url] of Object.entries(JSON.parse(STS_OF))) hub[stage].function.fn.addEnvironment('AWS_ENDPOINT_URL_STS', url);
