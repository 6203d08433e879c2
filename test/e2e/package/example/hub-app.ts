/** A platform team's app: a hub in a stack of its own, and clusters of the team's with their relays. */
import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Cluster, type ICluster, KubectlProvider } from 'aws-cdk-lib/aws-eks-v2';
import { Role } from 'aws-cdk-lib/aws-iam';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { FleetCluster, FleetHub } from 'fleet-endpoints';

const app = new App({ analyticsReporting: false });
const env = { account: '111122223333', region: 'eu-central-1' };
const roleNamed = (stack: Stack, name: string) => Role.fromRoleName(stack, name, name);

// By attributes: a look-up takes credentials.
const network = {
  vpcId: 'vpc-0123456789abcdef0',
  availabilityZones: ['eu-central-1a'],
  privateSubnetIds: ['subnet-0123456789abcdef0'],
};
const platform = new Stack(app, 'Platform', { env });
const hub = new FleetHub(platform, 'Hub', {
  name: 'Fleet',
  pageTopic: new Topic(platform, 'Page'),
  logRetention: RetentionDays.ONE_MONTH,
  removalPolicy: RemovalPolicy.DESTROY,
  vpc: Vpc.fromVpcAttributes(platform, 'Vpc', network),
});
hub.grantOperate(roleNamed(platform, 'on-call'));
hub.grantRead(roleNamed(platform, 'developer'));
hub.metricOverdueWork().createAlarm(platform, 'Overdue', { threshold: 30, evaluationPeriods: 1 });

const factory = new Stack(app, 'Factory', { env });
new FleetCluster(factory, 'Cluster', {
  hub,
  id: 'factory-1',
  mode: 'active',
  settings: { history: Duration.days(14) },
  api: { url: 'https://factory-1.example.com:6443', auth: { type: 'web-identity', audience: 'factory-1' } },
  relay: {
    identity: { type: 'existing-role', role: roleNamed(factory, 'factory-1-relay') },
    resync: Duration.minutes(10),
  },
});

const shop = new Stack(app, 'Shop', { env });
const provider = { serviceToken: 'arn:aws:lambda:eu-central-1:111122223333:function:kubectl' };
const eks: ICluster = Cluster.fromClusterAttributes(shop, 'Eks', {
  clusterName: 'shop-dev',
  kubectlProvider: KubectlProvider.fromKubectlProviderAttributes(shop, 'Kubectl', provider),
});
const served = new FleetCluster(shop, 'Cluster', {
  hub,
  id: 'shop-dev',
  relay: { identity: { type: 'pod-identity', clusterName: eks.clusterName } },
});
served.installRelay(eks, { image: 'registry.example.com/relay@sha256:1' });
