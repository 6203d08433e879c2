/**
 * A page of a consistent list (docs/architecture.md, "List"): as of its version exactly its entries exist in its key range. First list, relist
 * and periodic inventory are one thing, and the entries are the repair.
 */

import { markFirstListApplied, requestOwnList } from '#shared/clusters/first-lists.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { isOwnSession } from '#shared/clusters/sessions.ts';
import { concurrently } from '#shared/concurrently.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { slicesManagedBy } from '#shared/kube/names.ts';
import type { InputKind } from '#shared/kube/types.ts';
import type { InputListPart, InputState, OutputListPart, OutputState } from '#shared/queue/events.ts';
import { notePart, raiseFence, readFence } from '#shared/store/lists.ts';
import { markNamespaceEmpty, namespacesInRange } from '#shared/store/namespaces.ts';
import { isAlive, type ObjectRecord, purgeTombstone, readObject, readObjects } from '#shared/store/objects.ts';
import { noteIfOdd } from '#shared/store/outputs.ts';
import { type Version, versionOf } from '#shared/store/version.ts';
import type { WakeUps } from '#shared/workqueue/add.ts';
import { announce, type Owed, type VersionedEntry } from './announce.ts';
import type { IngestDeps } from './deps.ts';
import { rangeWithin } from './key-range.ts';
import { applyOutputs } from './outputs.ts';
import type { Progress } from './put-off.ts';
import { unlistedOutputs } from './unlisted-outputs.ts';
import type { Written } from './written.ts';

/** To be called when all that is owed has been sent: notes the part, which may open the gate. */
export type Note = () => Promise<void>;

/** What it owes goes to `owed` as it is written, so that it is there too if this rejects half-way. */
export async function applyInputPart(
  deps: IngestDeps,
  meta: ClusterRecord,
  incarnation: number,
  part: InputListPart,
  written: Written,
  owed: Owed[],
): Promise<Note | undefined> {
  const { table } = deps;
  const version = versionOf(incarnation, part.asOf);
  await raiseFence(table, meta.id, part.kind, version);
  const held = await heldInRange(deps, meta.id, part);
  const listed = new Set(part.entries.map((e) => `${e.namespace}/${e.name}`));
  if (part.kind === 'Pod')
    for (const o of [...held.values()].map((r) => r.namespace).concat(part.entries.map((e) => e.namespace))) written.noteAll(o);

  const apply = async (entry: Omit<VersionedEntry, 'asOf' | 'observedAtMs' | 'listed'>, record: ObjectRecord | undefined): Promise<void> => {
    const tell = await announce(deps, meta.id, part.kind, { ...entry, asOf: version, observedAtMs: undefined, listed: true }, written, { record });
    if (tell) owed.push(tell);
  };
  await concurrently(16, part.entries, (e: InputState) =>
    apply(
      { namespace: e.namespace, name: e.name, version: versionOf(incarnation, e.resourceVersion), projection: e.projection },
      held.get(`${e.namespace}/${e.name}`),
    ),
  );

  const notListed = [...held].filter(([key]) => !listed.has(key)).map(([, record]) => record);
  const alive = [...held.values()].filter(isAlive).length;
  const missing = notListed.filter((r) => isAlive(r) && r.version < version);
  const { suspiciousCount, suspiciousShare } = limitsOf(deps).ingest;
  const isSuspicious = missing.length > suspiciousCount && missing.length > suspiciousShare * alive && meta.mode !== 'shadow';
  // The message's own word is not enough: a relay could switch the brake off with it.
  if (isSuspicious && !(part.isConfirmed && (await isOwnSession(table, meta.id, part.session)))) {
    // Once for each doubt: of a cluster that is paused, or cannot be asked, each list says it again.
    if (await requestOwnList(table, meta.id, part.kind)) deps.metrics.put('Drift', missing.length, { cluster: meta.id });
    deps.log.warn('list would take away too much: not applied until it is confirmed', {
      cluster: meta.id,
      kind: part.kind,
      missing: missing.length,
      of: alive,
    });
    return undefined;
  }
  await concurrently(16, missing, (r) => apply({ namespace: r.namespace, name: r.name, version, projection: undefined }, r));
  // What an earlier worker wrote and did not live to tell: equal and older entries announce again while `past` is there.
  const untold = notListed.filter((r) => r.unnotifiedLabels && !missing.includes(r));
  for (const record of untold) {
    written.note(part.kind, record.namespace, record.name);
    owed.push({ kind: part.kind, record, podChange: undefined, observedAtMs: undefined });
  }
  await purge(deps, meta, part.kind, notListed, version);
  return () => note(deps, meta, incarnation, part, version);
}

/**
 * Nothing of it shows in the table but in the services that it wakes, so a run that is not the first goes on where the one before had got to
 * (`part.progress`).
 */
export async function applyOutputPart(
  deps: IngestDeps,
  meta: ClusterRecord,
  incarnation: number,
  part: OutputListPart,
  wakeUps: WakeUps,
  progress: Progress,
): Promise<Note> {
  const { entriesPerStep, servicesPerStep } = limitsOf(deps).ingest;
  const version = versionOf(incarnation, part.asOf);
  await raiseFence(deps.table, meta.id, part.kind, version);
  const { entries: from = 0, services: after = '' } = part.progress ?? {};
  for (let i = from; i < part.entries.length; i += entriesPerStep) {
    const some = part.entries.slice(i, i + entriesPerStep);
    await noteOdd(deps, meta.id, part, some);
    await applyOutputs(deps, meta, incarnation, part, some, wakeUps, version);
    if (part.kind === 'Endpoints' && meta.lists.firstListOf.Endpoints !== incarnation) await wakeLeftovers(deps, meta.id, some, wakeUps);
    progress.value = { entries: i + some.length };
  }
  for await (const { entries, upTo } of unlistedOutputs(deps.table, meta, part, version, after, servicesPerStep)) {
    await applyOutputs(deps, meta, incarnation, part, entries, wakeUps, version);
    progress.value = { entries: part.entries.length, services: upTo };
  }
  return () => note(deps, meta, incarnation, part, version);
}

/** What the version before had saved of such slices it did not remember. */
async function noteOdd({ table }: IngestDeps, cluster: string, { kind }: OutputListPart, entries: readonly OutputState[]): Promise<void> {
  if (kind !== 'EndpointSlice') return;
  const ours = entries.filter((e) => e.service !== '' && e.managedBy === slicesManagedBy);
  await concurrently(16, ours, (e) => noteIfOdd(table, { cluster, namespace: e.namespace, name: e.service }, e.name));
}

/**
 * Upstream's check of leftover Endpoints at its start (EP-70): those without a Service are woken, and the run deletes them. Endpoints that
 * hold a leader-election record are let be.
 */
async function wakeLeftovers(deps: IngestDeps, cluster: string, entries: readonly OutputState[], wakeUps: WakeUps): Promise<void> {
  await concurrently(16, entries, async (e) => {
    if (e.leader || isAlive(await readObject({ table: deps.table, cluster }, 'Service', e.namespace, e.name))) return;
    wakeUps.add({ namespace: e.namespace, service: e.name, delaySeconds: 0, live: true, seen: undefined });
  });
}

async function heldInRange(deps: IngestDeps, cluster: string, part: InputListPart): Promise<Map<string, ObjectRecord>> {
  const { kind, from, to } = part;
  if (kind === 'Node') return byKey(await readObjects({ table: deps.table, cluster }, kind, '', rangeWithin('', from, to)));
  const namespaces = await namespacesInRange({ table: deps.table, cluster }, kind, { from, to });
  const records = await concurrently(8, namespaces, async (ns) => {
    const range = rangeWithin(ns.name, from, to);
    const held = await readObjects({ table: deps.table, cluster }, kind, ns.name, range);
    if (held.length === 0 && range.from === undefined && range.to === undefined)
      await markNamespaceEmpty({ table: deps.table, cluster }, kind, ns, { now: deps.now(), afterMs: limitsOf(deps).ingest.emptyAfterMs });
    return held;
  });
  return byKey(records.flat());
}

const byKey = (records: readonly ObjectRecord[]): Map<string, ObjectRecord> => new Map(records.map((r) => [`${r.namespace}/${r.name}`, r]));

async function purge(deps: IngestDeps, meta: ClusterRecord, kind: InputKind, records: readonly ObjectRecord[], fence: Version): Promise<void> {
  // Services that went while nothing is written are still to be woken by the switch back.
  if (kind === 'Service' && (meta.wakeAll || (meta.mode !== 'active' && meta.mode !== 'shadow'))) return;
  const { tombstoneMs } = limitsOf(deps).ingest;
  const redundant = records.filter((r) => !isAlive(r) && !r.unnotifiedLabels && r.version <= fence && deps.now() - r.deletedAtMs > tombstoneMs);
  await concurrently(16, redundant, (r) => purgeTombstone({ table: deps.table, cluster: meta.id }, kind, r));
}

/** Noted only if no newer list has begun: its fence may have refused entries of this one, and the gate would open with live objects missing. */
async function note(
  deps: IngestDeps,
  meta: ClusterRecord,
  incarnation: number,
  part: InputListPart | OutputListPart,
  version: Version,
): Promise<void> {
  if ((await readFence(deps.table, meta.id, part.kind)) !== version) return;
  const complete = await notePart(deps.table, meta.id, part.kind, part.listId, {
    i: part.partNumber,
    last: part.isLast,
    expiresAtSeconds: Math.floor(deps.now() / 1000) + limitsOf(deps).ingest.listTtlSeconds,
  });
  if (complete) await markFirstListApplied(deps.table, { id: meta.id, incarnation }, part.kind);
}
