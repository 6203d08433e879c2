/**
 * The validity of an export of the run's cluster: by the snapshot, and by the cluster itself before the
 * snapshot alone takes endpoints away.
 */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import { requeueRun } from '#functions/sync/state/requeue.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { type ExportValidity, staysInSet, validityOf } from '#shared/clusterset/exports/export-validity.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import type { ServiceExport } from '#shared/kube/mcs-types.ts';
import { project } from '#shared/kube/projection/projection.ts';
import type { Service } from '#shared/kube/types.ts';

export function validityIn(
  cluster: ClusterRecord,
  { metadata }: ServiceExport,
  service: Service | undefined,
): ExportValidity {
  const { namespace = '', name } = metadata;
  const isDeleting = metadata.deletionTimestamp !== undefined;
  return validityOf({
    namespace,
    name,
    isDeleting,
    service,
    allowed: membershipOf(cluster).exports.namespaces,
    optsIn: cluster.optIn !== 'off',
  });
}

/** The Service, as the snapshot has it, takes all endpoints of the export away. */
const takesEndpoints = (validity: ExportValidity): boolean =>
  !validity.valid && staysInSet(validity) && !validity.keeps;

/**
 * For an export that is in the set. Asks the API of its cluster before the Service as the snapshot has it
 * takes the endpoints away: every importer would lose them at once. Throws RequeueAfter if they stay by the
 * cluster's Service, or while the circuit is open. The snapshot counts for a cluster without an API.
 */
export async function confirmedValidity(
  run: ClustersetRun,
  serviceExport: ServiceExport,
  validity: ExportValidity,
): Promise<ExportValidity> {
  const { deps, cluster, namespace, name } = run;
  if (validity.valid || !takesEndpoints(validity) || !(deps.reaches?.(cluster) ?? cluster.api))
    return validity;
  const service = await (await run.api()).get('Service', namespace, name);
  if (takesEndpoints(validityIn(cluster, serviceExport, service && project('Service', service))))
    return validity;
  deps.metrics.put('Drift', 1, { cluster: cluster.id });
  throw requeueRun(deps, 'endpointsKept', {
    reason: `by the snapshot the export has no endpoints (${validity.message}), by the cluster it has`,
  });
}
