import { Aspects } from 'aws-cdk-lib';
import type { Template } from 'aws-cdk-lib/assertions';
import { afterEach, expect, it, vi } from 'vitest';
import { dropForEmulator, notOnEmulator } from '#infra/emulator.ts';
import { fleetOf } from './fleet.ts';

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

it('leaves out for the local cloud what it refuses, says so, and changes nothing else', () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const whole = fleetOf(small);
  const local = fleetOf(small, (app) => Aspects.of(app).add(dropForEmulator()));
  const left = (template: Template): string[] => typesOf(template).filter((type) => !notOnEmulator.includes(type));
  expect(typesOf(local.hubTemplate)).toEqual(left(whole.hubTemplate));
  expect(typesOf(local.snapshotTemplate)).toEqual(left(whole.snapshotTemplate));
  expect(typesOf(local.clusterTemplate('eks'))).toEqual(left(whole.clusterTemplate('eks')));
  expect(said.mock.calls.flat()).toEqual([
    'not on the local cloud: AWS::CloudWatch::CompositeAlarm Small-hub/Monitoring/FleetUnhealthy/Resource',
    'not on the local cloud: AWS::EKS::PodIdentityAssociation Small-cluster-eks/Relay/Association',
    'not on the local cloud: AWS::EKS::AccessEntry Small-cluster-eks/SyncAccess',
    'not on the local cloud: AWS::EKS::AccessEntry Small-cluster-eks/SweepAccess',
  ]);
});
