/**
 * The first resource that goes with a cluster's stack. CloudFormation deletes nothing else of the stack if
 * its deletion fails, so the cluster keeps its queues and consumers.
 */
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import { removalGuard } from '#shared/contract/registration-property.ts';
import type { Table } from '#shared/store/table.ts';

/** Resolves to the resource's physical id, which is the cluster's id. */
export async function applyRemovalGuard(
  table: Table,
  event: CloudFormationCustomResourceEvent,
): Promise<string> {
  const id =
    event.RequestType === 'Delete' ? undefined : String(event.ResourceProperties[removalGuard.property]);
  const guarded = event.RequestType === 'Create' ? undefined : event.PhysicalResourceId;
  if (guarded === undefined || guarded === id) return id as string;
  const cluster = await readCluster(table, guarded);
  if (cluster && !isDeregistered(cluster)) refuseToAbandon(cluster);
  return id ?? guarded;
}

/**
 * Throws if slices that the hub made by opt-in would stay, and nobody would delete them or let them follow
 * their pods.
 */
function refuseToAbandon({ id, relay, abandonsOptIn }: ClusterRecord): void {
  const { sliced = 0 } = relay.annotated ?? {};
  if (sliced === 0 || abandonsOptIn) return;
  const command = `fleet-endpoints cluster opt-in ${id}`;
  throw new Error(
    `${id} stays registered: slices of ${sliced} Services by opt-in would stay in the cluster, and list pods that are gone. Add the selectors of these Services, and run ${command} off --withdraw; half a minute later delete the stack again. ${command} off --abandon allows the removal with the slices as they are`,
  );
}
