/**
 * A platform team's app, outside of the tree: hubs and their clusters by the package's constructs, a stack for each hub. FIT: what fits templates to the local
 * cloud.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { App, Aspects, CfnResource, Stack } from 'aws-cdk-lib';
import { SecurityGroup, Subnet, Vpc } from 'aws-cdk-lib/aws-ec2';
import { CfnRole } from 'aws-cdk-lib/aws-iam';
import { FleetCluster, FleetHub } from 'fleet-endpoints';

const { ACCOUNT, REGION, FIT } = process.env;
const file = (name) => new URL(name, import.meta.url);
const app = new App({ analyticsReporting: false });
for (const [name, { hub: input, vpc, clusters, stsOf }] of Object.entries(
  JSON.parse(readFileSync(file('fleet.json'), 'utf8')),
)) {
  const stack = new Stack(app, name, { env: { account: ACCOUNT, region: REGION } });
  const { vpcId, subnetIds, securityGroupIds, ...proxy } = vpc;
  const hub = new FleetHub(stack, 'Hub', {
    ...input,
    ...proxy,
    vpc: Vpc.fromVpcAttributes(stack, 'Vpc', {
      vpcId,
      availabilityZones: ['a'],
      privateSubnetIds: subnetIds,
    }),
    vpcSubnets: { subnets: subnetIds.map((id) => Subnet.fromSubnetId(stack, id, id)) },
    securityGroups: securityGroupIds.map((id) =>
      SecurityGroup.fromSecurityGroupId(stack, id, id, { mutable: false }),
    ),
  });
  for (const cluster of clusters) new FleetCluster(stack, `Cluster-${cluster.id}`, { hub, ...cluster });
  // The local cloud's tokens for outbound web identity have no signature of an issuer.
  for (const [stage, url] of Object.entries(stsOf))
    hub[stage].function.fn.addEnvironment('AWS_ENDPOINT_URL_STS', url);
}

// The local cloud's CloudFormation lacks the types of EKS, and its EKS makes them by calls: the properties, with the ARN of each role by the role's name.
const nodes = app.node.findAll();
const roles = nodes.filter((node) => node instanceof CfnRole);
const eks = nodes.filter(
  (node) => CfnResource.isCfnResource(node) && node.cfnResourceType.startsWith('AWS::EKS::'),
);
const resources = eks.map((node) => {
  const stack = Stack.of(node);
  const roleArn = (id) => {
    const role = roles.find((each) => Stack.of(each) === stack && stack.resolve(each.logicalId) === id);
    return `arn:aws:iam::${ACCOUNT}:role/${stack.resolve(role.roleName)}`;
  };
  const properties = Object.entries(stack.resolve(node.cfnProperties)).map(([name, value]) => {
    const [id] = value?.['Fn::GetAtt'] ?? [];
    return [name, id ? roleArn(id) : value];
  });
  return { stack: stack.stackName, type: node.cfnResourceType, properties: Object.fromEntries(properties) };
});
writeFileSync(file('eks.json'), JSON.stringify(resources));

const { fitToEmulator } = await import(FIT);
Aspects.of(app).add(fitToEmulator());
