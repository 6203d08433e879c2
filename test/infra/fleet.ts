import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { parseConfig } from '#infra/config/load-config.ts';
import { addFleet, type Fleet } from '#infra/stacks/fleet-stacks.ts';

// The CDK's check of templates against CloudFormation's schemas takes three seconds a process; `npm run synth` makes it.
process.env['CDK_VALIDATION'] = 'false';

/** Every kind of cluster, network and identity that the configuration has. */
export const everything = `
hub:
  name: Fleet
  runbookUrl: https://wiki.example.com/runbook
  vpc: { vpcId: vpc-0123456789abcdef0, subnetIds: [subnet-0123456789abcdef0, subnet-0123456789abcdef1], securityGroupIds: [sg-0123456789abcdef0] }
  alarms: { pageTopicArn: "arn:aws:sns:eu-central-1:111122223333:page", ticketTopicArn: "arn:aws:sns:eu-central-1:111122223333:ticket" }
clusters:
  - id: watched
    relay: { identity: { type: pod-identity, clusterName: watched } }
  - id: eks
    concurrency: { ingest: 3, sync: 4 }
    api: { url: "https://eks.example.com", auth: { type: eks, clusterName: eks, accessEntry: true } }
    relay: { identity: { type: irsa, oidcProviderArn: "arn:aws:iam::111122223333:oidc-provider/oidc.example.com/id/A1" } }
  - id: elsewhere
    api:
      url: https://elsewhere.example.com
      auth: { type: eks, clusterName: elsewhere, region: eu-west-1, roleArn: "arn:aws:iam::444455556666:role/elsewhere" }
    relay: { identity: { type: existing-role, roleArn: "arn:aws:iam::444455556666:role/elsewhere-relay" } }
  - id: own
    alarms: page
    mode: active
    api: { url: "https://own.example.com:6443", auth: { type: web-identity, audience: own } }
    relay: { identity: { type: existing-role, roleArn: "arn:aws:iam::111122223333:role/own-relay" } }
  - id: secret
    api: { url: "https://secret.example.com:6443", auth: { type: secret, secretArn: "arn:aws:secretsmanager:eu-central-1:111122223333:secret:s-AbCdEf" } }
    relay: { identity: { type: existing-role, roleArn: "arn:aws:iam::111122223333:role/secret-relay" } }
`;

export interface TestFleet extends Fleet {
  readonly app: App;
  readonly hubTemplate: Template;
  readonly snapshotTemplate: Template;
  readonly clusterTemplate: (id: string) => Template;
}

/** Stacks of a configuration, without bundling the functions. `prepare` comes before the templates are made. */
export function fleetOf(yaml = everything, prepare: (app: App) => void = () => {}): TestFleet {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  prepare(app);
  const config = parseConfig('clusters.yaml', yaml);
  const fleet = addFleet(app, config);
  return {
    ...fleet,
    app,
    hubTemplate: Template.fromStack(fleet.hub),
    snapshotTemplate: Template.fromStack(fleet.snapshot),
    clusterTemplate: (id) => Template.fromStack(fleet.clusters[config.clusters.findIndex((c) => c.id === id)]!),
  };
}

export interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
  readonly Effect?: 'Allow' | 'Deny';
}

export const actionsOf = (statements: readonly Statement[]): string[] => [...new Set(statements.flatMap((s) => s.Action))].sort();

/** Every statement that a role has from policies of its template, by the beginning of its logical id. */
export function statementsOf(template: Template, role: string): Statement[] {
  const own = Object.keys(template.findResources('AWS::IAM::Role')).find((id) => id.startsWith(role));
  if (!own) throw new Error(`no role ${role}`);
  const attached = (roles: unknown): boolean => JSON.stringify(roles ?? []).includes(`{"Ref":"${own}"}`);
  const policies = [
    ...Object.values(template.findResources('AWS::IAM::Policy')),
    ...Object.values(template.findResources('AWS::IAM::ManagedPolicy')),
  ];
  return policies.filter((p) => attached(p['Properties'].Roles)).flatMap((p) => p['Properties'].PolicyDocument.Statement as Statement[]);
}
