/**
 * A ServiceImport and its derived Service as the run's cluster has them, and the plan for the ServiceImport.
 */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { type ImportPlan, planImport } from '#shared/clusterset/imports/service-import.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { allToEnd } from '#shared/concurrently.ts';
import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import { fieldManagerOf } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';

export interface Imported {
  readonly current: ServiceImport | undefined;
  /** Under the name of the derived Service, whosever it is. */
  readonly derived: Service | undefined;
}

export async function readImported(run: ClustersetRun): Promise<Imported> {
  const { namespace, name } = run;
  const api = await run.api();
  const [current, derived] = await allToEnd([
    api.get('ServiceImport', namespace, name),
    api.get('Service', namespace, derivedName(namespace, name)),
  ]);
  return { current, derived };
}

/**
 * `merged` undefined: the ServiceImport is to be deleted. A Service without a ServiceImport belongs to a
 * former one.
 */
export function planFor(
  run: ClustersetRun,
  { current, derived }: Imported,
  merged: MergedExports | undefined,
): ImportPlan {
  const { cluster, namespace, name } = run;
  const { set } = membershipOf(cluster);
  return planImport({
    namespace,
    name,
    set,
    merged,
    current,
    derived: current && derived,
    writtenBy: fieldManagerOf(cluster.writer),
  });
}
