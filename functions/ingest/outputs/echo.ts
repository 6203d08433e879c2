/**
 * Is what the relay saw of an output our own write (an echo), or a foreign one? `OutputOrigin` lists the
 * answers; observed-outputs.ts acts on them. Pure.
 */
import {
  endpointsManagedBy,
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints, OutputKind } from '#shared/kube/types.ts';
import type { OutputEntry } from '#shared/queue/messages.ts';
import type { OutputRecord } from '#shared/store/outputs/outputs.ts';
import type { Version } from '#shared/store/version.ts';

/** An entry of an output kind, beside what sync has saved of that output for one service. */
export interface Observation {
  readonly kind: OutputKind;
  readonly seen: OutputEntry;
  readonly version: Version;
  /** The version of the list that the entry is of. */
  readonly listedAt: Version | undefined;
  readonly saved: OutputRecord | undefined;
  /** The Endpoints are ours, and their Service does not exist. */
  readonly isWithoutService: boolean;
}

export type OutputOrigin =
  /** Sync wrote the output, or another manager keeps it. */
  | 'ours'
  /** A pending run of the service may have written the output. If no run is pending, this is `ours`. */
  | 'ours-or-unsaved'
  /** Sync may have written the output and not saved it yet. The entry returns for a second look. */
  | 'look-again'
  /** Another client wrote the output, or a worker that had lost its lease. */
  | 'foreign'
  /**
   * The output is older than the state that sync had saved before the list: etcd was restored, and its
   * revision raised. The woken run saves the output as it is on the API server.
   */
  | 'rewound';

export function classify({
  kind,
  saved,
  seen,
  version,
  listedAt,
  isWithoutService,
}: Observation): OutputOrigin {
  if (saved && listedAt !== undefined && saved.version <= listedAt && isBehind(saved, seen, version))
    return 'rewound';
  if (isWithoutService || !isOwnEcho(kind, saved, seen, version))
    return seen.secondLook ? 'foreign' : 'look-again';
  return saved && !seen.secondLook ? 'ours' : 'ours-or-unsaved';
}

/**
 * A deletion is saved with the object's last version. The list may therefore also be older than the deletion.
 */
const isBehind = (saved: OutputRecord, seen: OutputEntry, version: Version): boolean =>
  version < saved.version || (version === saved.version && !saved.object && !seen.deleted);

/**
 * Endpoints of ours that sync has not saved, at the second look. If their Service is gone, then a worker that
 * had lost its lease made them after the Service's end, when nothing is saved any more.
 */
export const mayBeWithoutService = ({
  kind,
  saved,
  seen,
}: Pick<Observation, 'kind' | 'saved' | 'seen'>): boolean =>
  kind === 'Endpoints' &&
  !saved &&
  seen.secondLook === true &&
  !seen.deleted &&
  !seen.leader &&
  seen.managedBy === endpointsManagedBy;

/**
 * Did sync's own write cause what the relay saw of an output (docs/develop/architecture.md, "Echo")? If not, another
 * client wrote it, or a worker that had lost its lease, and the service's next run reads its outputs from the
 * cluster. This replaces upstream's slice tracker and stale checks.
 */
export function isOwnEcho(
  kind: OutputKind,
  saved: OutputRecord | undefined,
  seen: OutputEntry,
  version: Version,
): boolean {
  if (!saved) return isUnrelated(kind, seen);
  if (saved.version >= version) return true;
  // The API server reports no version for a deletion. A newer version of an object that counted as deleted
  // means that it had only left the service and is back.
  if (!saved.object) return saved.uid === seen.uid && seen.deleted === true;
  if (seen.deleted || saved.uid !== seen.uid || kind === 'Endpoints') return false;
  return saved.generation === (seen.generation ?? 0) && sameOwnership(saved.object, seen);
}

/** Returns true if certainly no run of ours made this output, which sync has not saved. */
function isUnrelated(kind: OutputKind, seen: OutputEntry): boolean {
  // A run may have made the slice and not saved it yet. This also applies to a deleted slice: the save would
  // record it as present.
  if (kind === 'EndpointSlice')
    return seen.managedBy !== slicesManagedBy && seen.managedBy !== optInManagedBy;
  // Deleted Endpoints wake their Service upstream too (EV-11). Endpoints with our label may be our own write,
  // which the second look finds saved.
  return !seen.deleted && (seen.managedBy !== endpointsManagedBy || seen.secondLook === true);
}

/**
 * Compares owners and labels. A change of annotations alone does not raise a slice's generation (TR-7) and
 * needs no run: upstream keeps none of them.
 */
function sameOwnership(object: Endpoints | EndpointSlice, seen: OutputEntry): boolean {
  const labels = object.metadata.labels ?? {};
  return (labels[labelServiceName] ?? '') === seen.service && labels[labelSliceManagedBy] === seen.managedBy;
}
