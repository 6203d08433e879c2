/**
 * The files of a new app: a clusters file, the CDK app that deploys it, the CDK's own configuration, and what
 * git leaves out.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessEntriesCommand, type EksCluster, takesAccessEntries } from '#infra/cli/account/eks-cluster.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { parseConfig } from '#infra/config/load-config.ts';

const clustersFile = (
  cluster: string,
  eks: EksCluster | undefined,
): string => `# yaml-language-server: $schema=node_modules/fleet-endpoints/dist/clusters.schema.json
hub:
  name: FleetEndpoints
${eks ? `  region: ${eks.region}\n` : ''}clusters:
  - id: ${cluster}
${eks ? apiOf(eks) : ''}    relay:
      identity: { type: pod-identity, clusterName: ${eks?.name ?? cluster} }   # an EKS cluster; getting-started.md has the other ways
`;

const apiOf = ({ name, url, ca }: EksCluster): string => `    api:
      url: ${url}
      ca: ${ca}
      auth: { type: eks, clusterName: ${name}, accessEntry: true }
`;

/**
 * Another clusters file, such as that of a canary hub, comes by context. Synthesis names the hub, so that a
 * wrong file is seen before the deploy. A mistake in the file is printed without a stack trace: its reader is
 * the person who wrote the file.
 */
const app = `import { App } from 'aws-cdk-lib';
import { addFleet, loadConfig } from 'fleet-endpoints';

const app = new App({ analyticsReporting: false });
const file = app.node.tryGetContext('clusters') ?? 'clusters.yaml';
let config;
try {
  config = loadConfig(file, 'cdk … -c clusters=FILE');
} catch (e) {
  console.error(e.message);
  process.exit(1);
}
console.error(\`hub \${config.hub.name} of \${file}\`);
addFleet(app, config);
`;

/**
 * Writes the files and returns a line for each, the next steps, and one for what the EKS cluster lacks.
 * Throws and writes no file if one of them exists.
 */
export function initApp(folder: string, cluster: string, eks?: EksCluster): readonly string[] {
  const files = {
    'clusters.yaml': clustersFile(cluster, eks),
    'app.mjs': app,
    'cdk.json': `${JSON.stringify({ app: 'node app.mjs', context: { '@aws-cdk/core:defaultCrossStackReferences': 'strong' } }, null, 2)}\n`,
  };
  parseConfig('clusters.yaml', files['clusters.yaml']);
  const there = Object.keys(files).filter((name) => existsSync(join(folder, name)));
  if (there.length > 0)
    throw new UsageError(`${there.join(', ')} in ${folder} would be overwritten: nothing was written`);
  // A repository may have its own already.
  const written = existsSync(join(folder, '.gitignore'))
    ? files
    : { ...files, '.gitignore': 'node_modules/\ncdk.out/\n' };
  for (const [name, text] of Object.entries(written)) writeFileSync(join(folder, name), text);
  const lacking =
    eks && !takesAccessEntries(eks)
      ? [`before the first deploy, so that EKS takes access entries: ${accessEntriesCommand(eks)}`]
      : [];
  const edit = eks ? [] : ['next: set clusterName in clusters.yaml to the name of the EKS cluster'];
  const commands =
    'then: npx fleet-endpoints config check; npx cdk synth --quiet; the deploy is in getting-started.md';
  return [...Object.keys(written).map((name) => `wrote ${name}`), ...edit, commands, ...lacking];
}
