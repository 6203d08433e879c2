/** The change that an entry of an input kind makes to the record of its object. Pure. */
import { nodeChange } from '#shared/controllers/membership/node-change.ts';
import { type PodChange, podChange } from '#shared/controllers/membership/pod-change.ts';
import { hasFeature } from '#shared/kube/kubernetes-version.ts';
import type { Labels } from '#shared/kube/labels.ts';
import { zoneOf } from '#shared/kube/nodes.ts';
import { labelsOfProjectedPod } from '#shared/kube/projection/pod-projection.ts';
import type { InputKind } from '#shared/kube/types.ts';
import { decodeObjectOf, isAlive, type ObjectRecord } from '#shared/store/inputs/objects.ts';
import type { Version } from '#shared/store/version.ts';

/** An entry whose versions name the incarnation. */
export interface VersionedEntry {
  readonly namespace: string;
  readonly name: string;
  readonly version: Version;
  /** The version as of which the entry holds: at least `version`. */
  readonly asOf: Version;
  /** Undefined: the object does not exist. */
  readonly projection: string | undefined;
  readonly notReady?: string | undefined;
  readonly observedAtMs?: number | undefined;
  /** True for an entry of a list. The object had this state at `asOf`, in spite of any stored record. */
  readonly listed?: boolean;
  /**
   * The object is of a first list. Every service is woken after it (shared/clusters/relay/first-lists.ts,
   * beginFirstList), and its parts come again until it is applied whole.
   */
  readonly ofFirstList?: boolean;
}

export type ObjectPlan =
  /** The stored record is as new as the entry. */
  | { readonly kind: 'stale'; readonly stored: ObjectRecord }
  | {
      readonly kind: 'write';
      readonly version: Version;
      readonly unnotifiedLabels: readonly Labels[] | undefined;
      /** Services have to be notified. */
      readonly isPending: boolean;
      /** The Pod's change, unless an earlier one is still to be notified too. */
      readonly podChange: PodChange | undefined;
      /** A Node has the zone that it had. */
      readonly isZoneKept: boolean;
    };

export function planObject(
  kind: InputKind,
  before: ObjectRecord | undefined,
  entry: VersionedEntry,
  kubernetesVersion: string | undefined,
): ObjectPlan {
  const version = versionAgainst(before, entry);
  if (before && version <= before.version) return { kind: 'stale', stored: before };
  const change = changeOf(kind, before, entry, kubernetesVersion);
  const isPending = change !== 'none' || before?.unnotifiedLabels !== undefined;
  const unnotified = isPending ? unnotifiedAfter(kind, before, entry) : undefined;
  return {
    kind: 'write',
    version,
    // A live message comes again until its services are notified. A page of a list does not, once it is
    // marked as applied. Its records therefore mark services as pending, also if only the present labels
    // select them ([]). Records of first lists need no mark, because the complete lists wake all services.
    unnotifiedLabels:
      unnotified?.length === 0 && (!entry.listed || entry.ofFirstList) ? undefined : unnotified,
    isPending,
    podChange: before?.unnotifiedLabels === undefined && typeof change === 'object' ? change : undefined,
    isZoneKept:
      kind === 'Node' &&
      before?.unnotifiedLabels === undefined &&
      zoneIn(before) === zoneIn({ ...before, ...entry }),
  };
}

function zoneIn(record: Pick<ObjectRecord, 'namespace' | 'name' | 'projection'> | undefined): string {
  const node = record?.projection === undefined ? undefined : decodeObjectOf('Node', record as ObjectRecord);
  return node ? zoneOf(node) : '';
}

/**
 * The version to write the entry with. Normally its own: an object that was deleted at one version and exists
 * at a later one was created in between. But a list may contradict the stored record, which is then wrong in
 * three cases.
 *
 * - The record is a tombstone as new as the entry. An earlier list left the object out.
 * - The record is newer than the listed object. The cluster's history has gone back, because etcd was
 *   restored and its revision raised.
 * - The record has the entry's version and another projection. Its relay lied, or was of a former version
 *   with another projection.
 *
 * Such an entry counts from the list's version on. With its own version it would lose until the object next
 * changes.
 */
function versionAgainst(
  before: ObjectRecord | undefined,
  { version, asOf, projection, listed }: VersionedEntry,
): Version {
  if (!listed || projection === undefined || before === undefined || asOf <= before.version) return version;
  const contradicts = version <= before.version && (!isAlive(before) || projection !== before.projection);
  return contradicts ? asOf : version;
}

/**
 * By upstream's rules, not "is the projection equal?" (reference/parity.md 1). 'none': no service has to run.
 * Pods wake by the rules of the cluster's version, and of the followed one while it is unknown: shadow mode
 * looks at a Service when the cluster's controllers do.
 */
function changeOf(
  kind: InputKind,
  before: ObjectRecord | undefined,
  entry: VersionedEntry,
  kubernetesVersion: string | undefined,
): PodChange | 'none' | 'changed' {
  const isGone = entry.projection === undefined && !isAlive(before);
  if (isGone) return kind === 'Service' && !before ? 'changed' : 'none';
  const after: ObjectRecord = { ...entry, unnotifiedLabels: undefined, deletedAtMs: 0 };
  switch (kind) {
    // Each update of a Service wakes it (EV-2): that repairs drift.
    case 'Service':
      return 'changed';
    case 'Node':
      return nodeChange(decodeObjectOf('Node', before), decodeObjectOf('Node', after)) ? 'changed' : 'none';
    case 'Pod':
      return changeOfPod(before, after, kubernetesVersion);
    default:
      return after.projection === before?.projection ? 'none' : 'changed';
  }
}

function changeOfPod(
  before: ObjectRecord | undefined,
  after: ObjectRecord,
  kubernetesVersion: string | undefined,
): PodChange | 'none' {
  const [old, pod] = [decodeObjectOf('Pod', before), decodeObjectOf('Pod', after)];
  if (old && pod && old.metadata.uid !== pod.metadata.uid) {
    // The relay sends only an object's newest state, so a deletion and a new Pod of that name can come as one
    // change.
    return { labels: pod.metadata.labels ?? {}, oldLabels: old.metadata.labels ?? {}, podChanged: true };
  }
  const byEligibility = kubernetesVersion !== undefined && hasFeature(kubernetesVersion, 'eligiblePods');
  return podChange(old, pod, byEligibility) ?? 'none';
}

/**
 * Maximum size of a Pod's former label sets whose services are still to be notified, characters. An item
 * takes 400 KB with the Pod's projection.
 */
const maxUnnotifiedChars = 128 * 1024;

/**
 * Returns the label sets that were unnotified before, and the label set that this write replaces. Above
 * `maxUnnotifiedChars` the oldest sets are left out. Their services find out with their next run.
 */
function unnotifiedAfter(
  kind: InputKind,
  before: ObjectRecord | undefined,
  entry: VersionedEntry,
): readonly Labels[] {
  const unnotified = before?.unnotifiedLabels ?? [];
  if (kind !== 'Pod' || !isAlive(before)) return unnotified;
  const labels = labelsOfProjectedPod(before.projection);
  const same = (other: Labels): boolean => JSON.stringify(other) === JSON.stringify(labels);
  if (entry.projection !== undefined && same(labelsOfProjectedPod(entry.projection))) return unnotified;
  if (unnotified.some(same)) return unnotified;
  let kept = [...unnotified, labels];
  while (JSON.stringify(kept).length > maxUnnotifiedChars) kept = kept.slice(1);
  return kept;
}
