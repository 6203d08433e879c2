import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { registrationProperty } from '#shared/contract/registration.ts';
import { drainCluster, type Registration, registerCluster } from '#shared/snapshot/meta.ts';
import type { Table } from '#shared/snapshot/table.ts';

/**
 * Resolves to the resource's physical id: the cluster's. CloudFormation takes a changed one for a replacement and then
 * deletes the former, which drains the former cluster.
 */
export async function applyRegistration(table: Table, event: CloudFormationCustomResourceEvent): Promise<string> {
  if (event.RequestType === 'Delete') {
    await drainCluster(table, event.PhysicalResourceId);
    return event.PhysicalResourceId;
  }
  const registration = JSON.parse(String(event.ResourceProperties[registrationProperty])) as Registration;
  await registerCluster(table, registration);
  return registration.id;
}
