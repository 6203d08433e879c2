/** The files of a new app: a clusters file, the CDK app that deploys it, and the CDK's own configuration. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseConfig } from '#infra/config/load-config.ts';
import { UsageError } from './usage-error.ts';

const clustersFile = (cluster: string): string => `# yaml-language-server: $schema=node_modules/fleet-endpoints/dist/clusters.schema.json
hub:
  name: FleetEndpoints
clusters:
  - id: ${cluster}
    relay:
      identity: { type: pod-identity, clusterName: ${cluster} }   # an EKS cluster; getting-started.md has the other ways
`;

const app = `import { App } from 'aws-cdk-lib';
import { addFleet, loadConfig } from 'fleet-endpoints';

const app = new App({ analyticsReporting: false });
addFleet(app, loadConfig('clusters.yaml'));
`;

/** Writes the files and returns a line for each. Throws and writes no file if one of them exists. */
export function initApp(folder: string, cluster: string): readonly string[] {
  const files = {
    'clusters.yaml': clustersFile(cluster),
    'app.mjs': app,
    'cdk.json': `${JSON.stringify({ app: 'node app.mjs', context: { '@aws-cdk/core:defaultCrossStackReferences': 'strong' } }, null, 2)}\n`,
  };
  parseConfig('clusters.yaml', files['clusters.yaml']);
  const there = Object.keys(files).filter((name) => existsSync(join(folder, name)));
  if (there.length > 0) throw new UsageError(`${there.join(', ')} in ${folder} would be overwritten: nothing was written`);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return Object.keys(files).map((name) => `wrote ${name}`);
}
