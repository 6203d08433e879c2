import { endpointsManagedBy, labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints, OutputKind } from '#shared/kube/types.ts';
import type { OutputState } from '#shared/queue/events.ts';
import type { OutputRecord } from '#shared/store/outputs.ts';
import type { Version } from '#shared/store/version.ts';

/**
 * Did sync's own write cause what the relay saw of an output (docs/architecture.md, "Echo")? If not, another client wrote it, or a worker that had
 * lost its lease, and the service's next run reads its outputs from the cluster. This replaces upstream's slice tracker and stale checks.
 */
export function isOwnEcho(kind: OutputKind, saved: OutputRecord | undefined, seen: OutputState, version: Version): boolean {
  if (!saved) return isUnrelated(kind, seen);
  if (saved.version >= version) return true;
  // The API server does not say at which version it deleted an object. A newer version of an object that we took for gone means that it had only
  // left the service, and is back.
  if (!saved.object) return saved.uid === seen.uid && seen.deleted === true;
  if (seen.deleted || saved.uid !== seen.uid || kind === 'Endpoints') return false;
  return saved.generation === (seen.generation ?? 0) && sameOwnership(saved.object, seen);
}

/** Of an output that sync has not saved: is it certain that no run of ours made it? */
function isUnrelated(kind: OutputKind, seen: OutputState): boolean {
  // A slice of ours may be one that a run has made and not saved yet. That holds for one that is gone too: the save would bring it back.
  if (kind === 'EndpointSlice') return seen.managedBy !== slicesManagedBy;
  // Deleted Endpoints wake their Service upstream too (EV-11). Those with our label may be our own write, which the second look finds saved.
  return !seen.deleted && (seen.managedBy !== endpointsManagedBy || seen.secondLook === true);
}

/** A change of annotations alone does not raise a slice's generation (TR-7), and is no reason for a run: upstream keeps none of them either. */
function sameOwnership(object: Endpoints | EndpointSlice, seen: OutputState): boolean {
  const labels = object.metadata.labels ?? {};
  return (labels[labelServiceName] ?? '') === seen.service && labels[labelSliceManagedBy] === seen.managedBy;
}
