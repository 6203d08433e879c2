import { endpointsManagedBy, labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints, OutputKind } from '#shared/kube/types.ts';
import type { OutputEntry } from '#shared/queue/messages.ts';
import type { OutputRecord } from '#shared/store/outputs.ts';
import type { Version } from '#shared/store/version.ts';

/**
 * Does what sync saved explain what the relay saw of an output (docs/architecture.md, "Echo")? If not, somebody else wrote it, or a worker
 * that had lost its lease, and the service is to be looked at live. This replaces upstream's slice tracker and stale checks.
 */
export function isExplained(kind: OutputKind, saved: OutputRecord | undefined, entry: OutputEntry, version: Version): boolean {
  // Unknown and gone: Endpoints that were deleted wake their Service upstream too (EV-11), and a slice of ours may be what a run has made and not yet
  // saved: its save would bring the dead to life. Endpoints with our label may have been edited before we saved them: a second look tells.
  if (!saved && kind === 'EndpointSlice') return entry.by !== slicesManagedBy;
  if (!saved) return !entry.gone && (entry.by !== endpointsManagedBy || entry.again !== undefined);
  if (saved.version >= version) return true;
  // The echo of our own deletion, whose version we never learn. Alive and newer, it was not deleted: it had left the service, and is back.
  if (!saved.object) return saved.uid === entry.uid && entry.gone === true;
  if (entry.gone || saved.uid !== entry.uid || kind === 'Endpoints') return false;
  return saved.generation === (entry.gen ?? 0) && sameOwnership(saved.object, entry);
}

/** Annotations alone do not raise a slice's generation (TR-7), and no annotation of ours is anybody's to keep. */
function sameOwnership(object: Endpoints | EndpointSlice, entry: OutputEntry): boolean {
  const labels = object.metadata.labels ?? {};
  return (labels[labelServiceName] ?? '') === entry.svc && labels[labelSliceManagedBy] === entry.by;
}
