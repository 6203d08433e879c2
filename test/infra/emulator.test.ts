import { Aspects } from 'aws-cdk-lib';
import type { Template } from 'aws-cdk-lib/assertions';
import { expect, it, vi } from 'vitest';
import { queries } from '#infra/aws/monitoring/queries.ts';
import { fitToEmulator, forEmulator, notOnEmulator } from '#infra/aws/stacks/emulator.ts';
import { parseConfig } from '#infra/config/load-config.ts';
import { authorityData } from './clusters-file.ts';
import { fleetOf, statementsOf } from './fleet.ts';

const small = `
hub: { name: Small, rollout: at-once }
clusters:
  - id: eks
    api: { url: "https://eks.example.com", ca: "${authorityData}", auth: { type: eks, clusterName: eks, accessEntry: true } }
    relay: { identity: { type: pod-identity, clusterName: eks } }
`;
const whole = fleetOf(small);
const said = vi.spyOn(console, 'error').mockImplementation(() => {});
const local = fleetOf(small, (app) => Aspects.of(app).add(fitToEmulator()));
const lines = said.mock.calls.flat();
said.mockRestore();

type Resource = { readonly Type: string; readonly Properties?: { readonly Metrics?: unknown } };
const resourcesOf = (template: Template) => template.toJSON()['Resources'] as { [id: string]: Resource };
const typesOf = (template: Template): string[] => Object.values(resourcesOf(template)).map((r) => r.Type);

it('the local cloud gets no unsupported resources, and the stack reports them', () => {
  const isThere = ([, { Type, Properties }]: [string, Resource]): boolean =>
    !notOnEmulator.includes(Type) && !Properties?.Metrics;
  const left = (template: Template): string[] =>
    Object.entries(resourcesOf(template)).flatMap((r) => (isThere(r) ? [r[1].Type] : []));
  expect(typesOf(local.hubTemplate)).toEqual(left(whole.hubTemplate));
  expect(typesOf(local.snapshotTemplate)).toEqual(left(whole.snapshotTemplate));
  expect(typesOf(local.clusterTemplate('eks'))).toEqual(left(whole.clusterTemplate('eks')));
  expect(lines.filter((line) => line.startsWith('not on'))).toEqual([
    'not on the local cloud: AWS::CloudWatch::Alarm with metric math Small-hub/Default/Monitoring/SyncsLateIn60Minutes/Resource',
    'not on the local cloud: AWS::CloudWatch::Alarm with metric math Small-hub/Default/Monitoring/SyncsLateIn5Minutes/Resource',
    'not on the local cloud: AWS::CloudWatch::CompositeAlarm Small-hub/Default/Monitoring/SyncsLate/Resource',
    'not on the local cloud: AWS::CloudWatch::Alarm with metric math Small-hub/Default/Monitoring/SyncsOftenLateIn360Minutes/Resource',
    'not on the local cloud: AWS::CloudWatch::Alarm with metric math Small-hub/Default/Monitoring/SyncsOftenLateIn30Minutes/Resource',
    'not on the local cloud: AWS::CloudWatch::CompositeAlarm Small-hub/Default/Monitoring/SyncsOftenLate/Resource',
    ...['ManyRelaysSilent', 'ManyCircuitsOpen', 'ManyFirstListsMissing', 'MetricsRefused'].map(
      (id) =>
        `not on the local cloud: AWS::CloudWatch::Alarm with metric math Small-hub/Default/Monitoring/${id}/Resource`,
    ),
    'not on the local cloud: AWS::CloudWatch::CompositeAlarm Small-hub/Default/Monitoring/FleetUnhealthy/Resource',
    ...queries.map(
      (_, i) => `not on the local cloud: AWS::Logs::QueryDefinition Small-hub/Default/Query${i + 1}`,
    ),
    'not on the local cloud: AWS::EKS::PodIdentityAssociation Small-cluster-eks/Default/Relay/Association',
    'not on the local cloud: AWS::EKS::AccessEntry Small-cluster-eks/Default/WorkerAccess',
    'not on the local cloud: AWS::EKS::AccessEntry Small-cluster-eks/Default/SweepAccess',
  ]);
});

it('allows batches by the name that the local cloud has for them, and only there', () => {
  const sends = (template: Template, action: string): number =>
    statementsOf(template, 'WorkerRole').filter((s) => [s.Action].flat().includes(action)).length;
  expect(JSON.stringify(statementsOf(local.hubTemplate, 'WorkerRole'))).toContain('Fn::ImportValue');
  for (const action of ['sqs:SendMessage', 'sqs:ChangeMessageVisibility']) {
    expect([sends(local.hubTemplate, action), sends(local.hubTemplate, `${action}Batch`)]).toEqual([1, 1]);
    expect(sends(whole.hubTemplate, `${action}Batch`)).toBe(0);
  }
});

it('asks for no key of DynamoDB’s requests there, as the local cloud knows none, and only there', () => {
  const asks = (template: Template): boolean =>
    JSON.stringify(statementsOf(template, 'RegisterRole')).includes('"Null"');
  expect([asks(local.hubTemplate), asks(whole.hubTemplate)]).toEqual([false, true]);
});

it('knows senders there by their sessions, as the local cloud does, and only there', () => {
  const senders = (template: Template): string =>
    JSON.stringify(template.findResources('AWS::SQS::QueuePolicy'));
  expect(senders(local.clusterTemplate('eks'))).toContain(':assumed-role/');
  expect(senders(whole.clusterTemplate('eks'))).not.toMatch(/assumed-role|:root/);
});

it('takes new versions over at once there, as nothing shifts them', () => {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
  expect(forEmulator(parseConfig('clusters.yaml', 'hub: {}')).hub.rollout).toBe('at-once');
  expect(errors.mock.calls.flat()).toEqual(['not on the local cloud: rollout gradual, so it is at-once']);
  errors.mockRestore();
});
