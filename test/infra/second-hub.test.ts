/** Two hubs in one account deploy beside each other, as docs/operate/upgrading.md has it. */
import { readFileSync } from 'node:fs';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { fleetOf } from './fleet.ts';

const identity = (more = '') =>
  `relay: { identity: { type: pod-identity, clusterName: shop-dev, region: eu-central-1${more} } }`;
const fleetFile = (more?: string) => `
hub: { name: Fleet, region: eu-central-1 }
clusters:
  - id: shop-dev
    ${identity(more)}`;
/** As docs/operate/upgrading.md shows it. Its "…" is for further keys of the cluster. */
const canaryFile = (): string =>
  /```yaml\n(# canary\.yaml\n.*?)\n *…\n```/s.exec(readFileSync('docs/operate/upgrading.md', 'utf8'))?.[1] ??
  '';

/** EKS accepts one association for a ServiceAccount of a cluster. */
function refusedAssociations(...files: readonly string[]): readonly string[] {
  const made = new Set<string>();
  return files.flatMap((file) =>
    fleetOf(file).clusters.flatMap((stack) =>
      Object.values(Template.fromStack(stack).findResources('AWS::EKS::PodIdentityAssociation')).flatMap(
        ({ Properties }) => {
          const account = [Properties.ClusterName, Properties.Namespace, Properties.ServiceAccount].join('/');
          if (made.has(account)) return [`Association already exists: ${account}`];
          made.add(account);
          return [];
        },
      ),
    ),
  );
}

it('the canary file of docs/operate/upgrading.md deploys beside the hub that owns the association', () => {
  expect(canaryFile()).toContain('association: false');
  expect(refusedAssociations(fleetFile(), canaryFile())).toEqual([]);
});

it('two hubs that both make the association of a cluster do not deploy', () => {
  const canary = canaryFile().replace('association: false, ', '');
  expect(
    refusedAssociations(fleetFile(), canary.replace('name: Canary', 'name: Canary, region: eu-central-1')),
  ).toEqual(['Association already exists: shop-dev/fleet-endpoints/relay']);
});

it('the association moves with its cluster once the former hub has given it up', () => {
  const owner = canaryFile()
    .replace('association: false, ', '')
    .replace('name: Canary', 'name: Canary, region: eu-central-1');
  expect(refusedAssociations(fleetFile(', association: false'), owner)).toEqual([]);
});
