/**
 * In clusters where Services may opt in, outputs of third parties are noted for explain. They are noted for every Service, because a slice may precede the
 * record of its Service, or its opt-in.
 */
import { endpointsManagedBy, optInManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import type { OutputState } from '#shared/queue/events.ts';
import { forgetOther, noteOther } from '#shared/store/other-outputs.ts';
import type { MessageContext } from '../batch/batch-context.ts';

export async function noteIfOther({ deps, cluster }: MessageContext, kind: OutputKind, seen: OutputState): Promise<void> {
  if (cluster.optIn === 'off' || seen.service === '' || seen.leader || isKnownWriter(kind, seen.managedBy)) return;
  const service = { cluster: cluster.id, namespace: seen.namespace, name: seen.service };
  if (seen.deleted) return forgetOther(deps.table, service, kind, seen.name);
  await noteOther(deps.table, service, { kind, name: seen.name, managedBy: seen.managedBy, seenAtMs: deps.now() });
}

const isKnownWriter = (kind: OutputKind, managedBy: string | undefined): boolean =>
  kind === 'Endpoints' ? managedBy === endpointsManagedBy : managedBy === slicesManagedBy || managedBy === optInManagedBy;
