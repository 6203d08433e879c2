/**
 * An entry of an input kind becomes the newest record of its object, or loses to a newer one. Writing is all that happens here; what is then
 * owed to which services is told by batch.ts in the order of docs/architecture.md, "Invariants": object, selectors, generation, message, and
 * only then is `past` cleared.
 */
import { limitsOf } from '#shared/contract/limits.ts';
import { labelsOfProjectedPod } from '#shared/kube/projection.ts';
import type { InputKind } from '#shared/kube/types.ts';
import { nodeChange } from '#shared/membership/node-change.ts';
import { type PodChange, podChange } from '#shared/membership/pod-change.ts';
import { readFence } from '#shared/store/lists.ts';
import { indexNamespace } from '#shared/store/namespaces.ts';
import { decodeObjectOf, isAlive, type Labels, type ObjectRecord, objectSize, putObject, readObject } from '#shared/store/objects.ts';
import type { Version } from '#shared/store/version.ts';
import type { IngestDeps } from './deps.ts';
import type { Written } from './written.ts';

/** An entry with its versions made whole. */
export interface VersionedEntry {
  readonly namespace: string;
  readonly name: string;
  readonly version: Version;
  /** As of when the entry holds: at least `version`. */
  readonly asOf: Version;
  /** Undefined: the object does not exist. */
  readonly projection: string | undefined;
  readonly observedAtMs: number | undefined;
  /** It comes from a list: as of `asOf` this is the object's state, whatever else was told of it. */
  readonly listed?: boolean;
}

/** Something that services have to be told of, before `record.past` may go. */
export interface Owed {
  readonly kind: InputKind;
  readonly record: ObjectRecord;
  /** The pod's change exactly, where this very call saw the object before and after; else past label sets say what it may have been. */
  readonly podChange: PodChange | undefined;
  readonly observedAtMs: number | undefined;
}

/** `written`: where a pod's write is noted. `known`: the record as it was just read, to save reading it again; undefined when it was absent, left out when not read. */
export async function announce(
  deps: IngestDeps,
  cluster: string,
  kind: InputKind,
  entry: VersionedEntry,
  written: Written,
  known?: { readonly record: ObjectRecord | undefined },
): Promise<Owed | undefined> {
  let before = known ? known.record : await readObject({ table: deps.table, cluster }, kind, entry.namespace, entry.name);
  for (;;) {
    const version = versionAgainst(before, entry);
    if (before && version <= before.version) {
      deps.metrics.put('EventsStale', 1, { cluster });
      // Whoever wrote it may not have lived to log it, nor to tell of it. The message is delivered again because of that, or twice for no reason,
      // which costs a wake-up. Lists say everything again and again: they look whether something is owed.
      if (entry.listed && !before.unnotifiedLabels) return undefined;
      written.note(kind, entry.namespace, entry.name);
      return { kind, record: before, podChange: undefined, observedAtMs: entry.observedAtMs };
    }
    if (entry.projection !== undefined && !isAlive(before) && entry.asOf < (await readFence(deps.table, cluster, kind))) {
      // A list newer than this entry does not know the object, and its end may not be told again: it would come to life for good.
      deps.metrics.put('EventsSuspect', 1, { cluster });
      return undefined;
    }
    const change = changeOf(kind, before, entry);
    const owesNothing = change === 'same' && before?.unnotifiedLabels === undefined;
    const past = owesNothing ? undefined : pastOf(kind, before, entry);
    const { namespace, name, projection } = entry;
    // A list's entry is not delivered again once its part is noted, so what it owes is written down even if it is no label set.
    const kept = past?.length === 0 && !entry.listed ? undefined : past;
    const fitting = withinItem(deps, cluster, kind, { namespace, name, version, projection, unnotifiedLabels: kept, deletedAtMs: deps.now() });
    if (!fitting) return undefined;
    const record: ObjectRecord = { ...fitting, ...(kind === 'Pod' && { logNumber: await written.begin(namespace) }) };
    await rememberNamespace(deps, cluster, entry.namespace);
    // Before it is known whether it has been: an answer may get lost.
    written.note(kind, entry.namespace, entry.name);
    if (await putObject({ table: deps.table, cluster }, kind, record, before)) {
      if (entry.observedAtMs !== undefined) deps.metrics.put('IngestLatency', Math.max(0, deps.now() - entry.observedAtMs), { cluster });
      if (owesNothing) return undefined;
      return {
        kind,
        record,
        podChange: before?.unnotifiedLabels === undefined && typeof change === 'object' ? change : undefined,
        observedAtMs: entry.observedAtMs,
      };
    }
    before = await readObject({ table: deps.table, cluster }, kind, entry.namespace, entry.name);
  }
}

/**
 * An object that was gone at a version and is there at a later one was made in between, so its own version is the newest. Where a list
 * says otherwise, what told of its end was wrong (a list that left it out); and where a list shows an object older than what was known
 * before it, its history has gone back (etcd restored, its revision raised); of one version with another projection, what told of it before has
 * lied, or projects otherwise (a former relay). The entry then counts from when it was seen, or what is so no more would win until the object next
 * changes.
 */
function versionAgainst(before: ObjectRecord | undefined, { version, asOf, projection, listed }: VersionedEntry): Version {
  if (!listed || projection === undefined || before === undefined || asOf <= before.version) return version;
  const contradicts = version <= before.version && (!isAlive(before) || projection !== before.projection);
  return contradicts ? asOf : version;
}

/** `same`: nobody has to be told (upstream's rules, not "the projection is equal": docs/behaviour.md 1). */
function changeOf(kind: InputKind, before: ObjectRecord | undefined, entry: VersionedEntry): PodChange | 'same' | 'changed' {
  const alive = entry.projection !== undefined;
  if (!alive && !isAlive(before)) return kind === 'Service' && !before ? 'changed' : 'same';
  // A Service's every update wakes it (EV-2): it is what repairs drift.
  if (kind === 'Service') return 'changed';
  const next: ObjectRecord = { ...entry, unnotifiedLabels: undefined, deletedAtMs: 0 };
  if (kind === 'Node') return nodeChange(decodeObjectOf('Node', before), decodeObjectOf('Node', next)) ? 'changed' : 'same';
  const [old, pod] = [decodeObjectOf('Pod', before), decodeObjectOf('Pod', next)];
  if (old && pod && old.metadata.uid !== pod.metadata.uid) {
    // The relay sends only an object's newest state, so a deletion and a new pod of that name can come as one change.
    return { namespace: entry.namespace, labels: pod.metadata.labels ?? {}, oldLabels: old.metadata.labels ?? {}, podChanged: true };
  }
  return podChange(old, pod) ?? 'same';
}

/** What was owed before stays owed, and so is the label set that this write takes out of sight. */
function pastOf(kind: InputKind, before: ObjectRecord | undefined, entry: VersionedEntry): readonly Labels[] {
  const owed = before?.unnotifiedLabels ?? [];
  if (kind !== 'Pod' || !isAlive(before)) return owed;
  const labels = labelsOfProjectedPod(before.projection);
  const same = (other: Labels): boolean => JSON.stringify(other) === JSON.stringify(labels);
  if (entry.projection !== undefined && same(labelsOfProjectedPod(entry.projection))) return owed;
  return owed.some(same) ? owed : [...owed, labels];
}

/**
 * The record as the table takes it: one that is too large would be refused for ever, and hold up its message with all that is in it. First the oldest
 * label sets go (whom they concerned finds out with its next run); an object that is too large by itself is left out, and what was known of it stays.
 */
function withinItem(deps: IngestDeps, cluster: string, kind: InputKind, record: ObjectRecord): ObjectRecord | undefined {
  const { mostPast, mostItemBytes } = limitsOf(deps).ingest;
  let { unnotifiedLabels: past } = record;
  while (
    past &&
    past.length > 0 &&
    (JSON.stringify(past).length > mostPast || objectSize(cluster, kind, { ...record, unnotifiedLabels: past }) > mostItemBytes)
  ) {
    past = past.slice(1);
  }
  const bytes = objectSize(cluster, kind, { ...record, unnotifiedLabels: past });
  if (bytes <= mostItemBytes) return { ...record, unnotifiedLabels: past };
  deps.metrics.put('ObjectsTooLarge', 1, { cluster });
  const { namespace, name } = record;
  deps.log.error('object is too large to be stored: what was known of it stays', { cluster, kind, namespace, name, bytes, most: mostItemBytes });
  return undefined;
}

async function rememberNamespace(deps: IngestDeps, cluster: string, namespace: string): Promise<void> {
  const key = `${cluster}/${namespace}`;
  if (deps.kept.namespaces.get(key)) return;
  await indexNamespace({ table: deps.table, cluster }, namespace);
  deps.kept.namespaces.set(key, true);
}
