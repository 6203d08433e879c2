import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { addFleet, type Fleet } from '#infra/aws/stacks/fleet-stacks.ts';
import { parseConfig } from '#infra/config/load-config.ts';
import { everything } from './clusters-file.ts';

// The CDK's check of templates against CloudFormation's schemas takes three seconds a process; `npm run
// synth` makes it.
process.env['CDK_VALIDATION'] = 'false';

export interface TestFleet extends Fleet {
  readonly app: App;
  readonly hubTemplate: Template;
  readonly snapshotTemplate: Template;
  readonly clusterTemplate: (id: string) => Template;
}

/**
 * Stacks of a configuration, without bundling the functions. `prepare` comes before the templates are made.
 */
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
    clusterTemplate: (id) =>
      Template.fromStack(fleet.clusters[config.clusters.findIndex((c) => c.id === id)]!),
  };
}

export interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
  readonly Effect?: 'Allow' | 'Deny';
}

export const actionsOf = (statements: readonly Statement[]): string[] =>
  [...new Set(statements.flatMap((s) => s.Action))].sort();

/** Every statement that a role has from policies of its template, by the beginning of its logical id. */
export function statementsOf(template: Template, role: string): Statement[] {
  const own = Object.keys(template.findResources('AWS::IAM::Role')).find((id) => id.startsWith(role));
  if (!own) throw new Error(`no role ${role}`);
  const attached = (roles: unknown): boolean => JSON.stringify(roles ?? []).includes(`{"Ref":"${own}"}`);
  const policies = [
    ...Object.values(template.findResources('AWS::IAM::Policy')),
    ...Object.values(template.findResources('AWS::IAM::ManagedPolicy')),
  ];
  return policies
    .filter((p) => attached(p['Properties'].Roles))
    .flatMap((p) => p['Properties'].PolicyDocument.Statement as Statement[]);
}
