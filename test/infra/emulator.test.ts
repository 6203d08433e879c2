import { Aspects } from 'aws-cdk-lib';
import type { Template } from 'aws-cdk-lib/assertions';
import { afterEach, expect, it, vi } from 'vitest';
import { fitToEmulator, notOnEmulator } from '#infra/emulator.ts';
import { fleetOf, statementsOf } from './fleet.ts';

afterEach(() => vi.restoreAllMocks());

const small = `
hub: { name: Small }
clusters:
  - id: eks
    api: { url: "https://eks.example.com", auth: { type: eks, clusterName: eks, accessEntry: true } }
    relay: { identity: { type: pod-identity, clusterName: eks } }
`;
const typesOf = (template: Template): string[] =>
  Object.values(template.toJSON()['Resources'] as { [id: string]: { Type: string } }).map((r) => r.Type);

it('leaves out for the local cloud what it refuses, and says so', () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const whole = fleetOf(small);
  const local = fleetOf(small, (app) => Aspects.of(app).add(fitToEmulator()));
  const left = (template: Template): string[] => typesOf(template).filter((type) => !notOnEmulator.includes(type));
  expect(typesOf(local.hubTemplate)).toEqual(left(whole.hubTemplate));
  expect(typesOf(local.snapshotTemplate)).toEqual(left(whole.snapshotTemplate));
  expect(typesOf(local.clusterTemplate('eks'))).toEqual(left(whole.clusterTemplate('eks')));
  expect(said.mock.calls.flat().filter((line) => line.startsWith('not on') && !line.includes('QueuePolicy'))).toEqual([
    'not on the local cloud: AWS::CloudWatch::CompositeAlarm Small-hub/Monitoring/FleetUnhealthy/Resource',
    'not on the local cloud: AWS::EKS::PodIdentityAssociation Small-cluster-eks/Relay/Association',
    'not on the local cloud: AWS::EKS::AccessEntry Small-cluster-eks/SyncAccess',
    'not on the local cloud: AWS::EKS::AccessEntry Small-cluster-eks/SweepAccess',
  ]);
});

it('allows batches by the name that the local cloud has for them, and only there', () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const sends = (template: Template, action: string): number =>
    statementsOf(template, 'IngestRole').filter((s) => [s.Action].flat().includes(action)).length;
  const local = fleetOf(small, (app) => Aspects.of(app).add(fitToEmulator())).hubTemplate;
  expect(JSON.stringify(statementsOf(local, 'IngestRole'))).toContain('Fn::ImportValue');
  expect([sends(local, 'sqs:SendMessage'), sends(local, 'sqs:SendMessageBatch')]).toEqual([1, 1]);
  expect(sends(fleetOf(small).hubTemplate, 'sqs:SendMessageBatch')).toBe(0);
});
