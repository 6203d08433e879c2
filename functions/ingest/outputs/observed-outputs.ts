/**
 * Outputs as the relay saw them on the API server: the echoes of what sync wrote, and what other clients
 * wrote.
 */
import { isObserved } from '#shared/clusters/writer/mode.ts';
import { allToEnd, concurrently } from '#shared/concurrently.ts';
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import { labelSliceManagedBy, optInManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import { encodeEntries, type LiveOutputs, type OutputListPart } from '#shared/queue/events.ts';
import type { OutputEntry } from '#shared/queue/messages.ts';
import { readFence } from '#shared/store/inputs/lists.ts';
import { isAlive, readObject } from '#shared/store/inputs/objects.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { decodeDeltas, noDeltas, type OutputDeltas } from '#shared/store/outputs/deltas.ts';
import { sortKeyOf } from '#shared/store/outputs/output-items.ts';
import {
  type OutputObject,
  type OutputRecord,
  readOutput,
  saveOutput,
} from '#shared/store/outputs/outputs.ts';
import type { Table } from '#shared/store/table.ts';
import { type Version, versionOf } from '#shared/store/version.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isClean, type WorkItem } from '#shared/workqueue/rules/item.ts';
import type { MessageContext } from '../batch/batch-context.ts';
import { classify, mayBeWithoutService, type Observation } from './echo.ts';
import { recordObserved } from './observed-history.ts';

/** Upstream's minSyncDelay: a slice event wakes its service after a second at the earliest (EV-16). */
const minSyncDelaySeconds = 1;

/** Entries of a message. `listedAt`: they are of a list of that version. */
export async function applyObserved(
  context: MessageContext,
  message: LiveOutputs | OutputListPart,
  listedAt?: Version,
): Promise<void> {
  const { kind, entries } = message;
  const { store, cluster, incarnation } = context;
  const isLate =
    isObserved(cluster) &&
    versionOf(incarnation, message.asOf) < (await readFence(store.table, cluster.id, kind));
  const unclear: OutputEntry[] = [];
  const source = { kind, listedAt, workItemOf: workItemByService(store.table) };
  await concurrently(16, entries, async (seen) => {
    context.checkTime();
    if (kind === 'EndpointSlice' && context.parts.some((part) => part.onSlice(context, seen))) return;
    if (isObserved(cluster) && !(await isOptInSlice(context, kind, seen)))
      await saveWhereSeen(context, { kind, listedAt, isLate }, seen);
    else if (await needsSecondLook(context, source, seen)) unclear.push(seen);
  });
  if (unclear.length > 0) await sendForSecondLook(context, message, unclear);
}

/** Where entries come from that may be sync's own writes. */
interface OwnSource extends Pick<Source, 'kind' | 'listedAt'> {
  readonly workItemOf: (service: ServiceKey) => Promise<WorkItem>;
}

/**
 * Reads the work item of each Service once a message, and before any of its bodies. That is after the relay saw
 * the outputs, so a run that wrote them has ended or is under way.
 */
function workItemByService(table: Table): OwnSource['workItemOf'] {
  const reads = new Map<string, Promise<WorkItem>>();
  return (service) => {
    const key = `${service.namespace}/${service.name}`;
    const read = reads.get(key) ?? readWork(table, { ...service, kind: 'service' });
    reads.set(key, read);
    return read;
  };
}

/**
 * Wakes the services that have to run because of the entry. True: that is not clear yet, and the entry is to
 * come back.
 */
async function needsSecondLook(
  context: MessageContext,
  source: OwnSource,
  seen: OutputEntry,
): Promise<boolean> {
  const { cluster, incarnation } = context;
  const version = versionOf(incarnation, seen.resourceVersion);
  for (const name of new Set([seen.service, seen.formerService])) {
    if (!name) continue;
    const service = { cluster: cluster.id, namespace: seen.namespace, name };
    const work = await source.workItemOf(service);
    const { kind, listedAt } = source;
    const deltas = decodeDeltas(work.deltas);
    const observation = await observe(context, service, { kind, seen, version, listedAt, deltas });
    if (observation && wakeIfConcerned(context, service, observation, work) === 'unclear') return true;
  }
  return false;
}

function wakeIfConcerned(
  { deps, cluster, effects }: MessageContext,
  { namespace, name }: ServiceKey,
  observation: Observation,
  work: WorkItem,
): 'done' | 'unclear' {
  const { saved, seen } = observation;
  const { observedAtMs } = seen;
  switch (classify(observation)) {
    case 'ours':
      return 'done';
    case 'look-again':
      return 'unclear';
    case 'ours-or-unsaved':
      // A run that is under way may have made the object and not saved it yet; a batch before may have raised
      // the generation and sent no wake-up.
      if (isClean(work)) return 'done';
      if (!seen.secondLook) return seen.deleted ? 'done' : 'unclear';
      effects.wake(namespace, name, { readFromApiServer: !saved, observedAtMs });
      return 'done';
    case 'rewound':
      // A deletion later than the list looks like this as well.
      if (saved?.object) deps.metrics.put('Drift', 1, { cluster: cluster.id });
      effects.wake(namespace, name, { readFromApiServer: true });
      return 'done';
    case 'foreign':
      deps.metrics.put('ForeignWrites', 1, { cluster: cluster.id });
      effects.wake(namespace, name, { readFromApiServer: true, observedAtMs });
      return 'done';
  }
}

/** Resolves to undefined for an echo: sync has saved this version, or a newer one. */
async function observe(
  { deps, store }: MessageContext,
  service: ServiceKey,
  { deltas, ...entry }: Omit<Observation, 'saved' | 'isWithoutService'> & { readonly deltas: OutputDeltas },
): Promise<Observation | undefined> {
  const { kind, seen, version, listedAt } = entry;
  const output = { kind, name: seen.name };
  const delta = deltas.get(sortKeyOf(output));
  if (delta && delta.version >= version && listedAt === undefined && !seen.secondLook) return undefined;
  const saved = await readOutput(deps.table, service, output, deltas);
  const observation = { ...entry, saved, isWithoutService: false };
  if (!mayBeWithoutService(observation)) return observation;
  return {
    ...observation,
    isWithoutService: !isAlive(await readObject(store, 'Service', service.namespace, service.name)),
  };
}

/** The entries come back after EV-16's delay. By then sync has saved what it wrote. */
async function sendForSecondLook(
  { deps, cluster }: MessageContext,
  message: LiveOutputs | OutputListPart,
  entries: readonly OutputEntry[],
): Promise<void> {
  const delaySeconds = Math.min(
    maxDelaySeconds,
    Math.max(minSyncDelaySeconds, cluster.settings.batchPeriodSeconds),
  );
  const newest = entries.reduce(
    (rv, e) => (versionOf(1, e.resourceVersion) > versionOf(1, rv) ? e.resourceVersion : rv),
    '0',
  );
  const again = entries.map((seen) => ({
    ...seen,
    secondLook: true as const,
    // Upstream's sync is due when the delay is over, and so is ours.
    ...(seen.observedAtMs !== undefined && { observedAtMs: seen.observedAtMs + delaySeconds * 1000 }),
  }));
  const body = encodeEntries({ ...message, asOf: newest }, again);
  await deps.queues(cluster.id, cluster.queues).events.send([{ body, delaySeconds }]);
}

/**
 * In an observed cluster: is this a slice of ours, or was it one before another client relabelled or deleted it?
 */
async function isOptInSlice(
  { deps, cluster }: MessageContext,
  kind: OutputKind,
  seen: OutputEntry,
): Promise<boolean> {
  if (kind !== 'EndpointSlice' || cluster.optIn !== 'active' || seen.managedBy === slicesManagedBy)
    return false;
  if (seen.managedBy === optInManagedBy) return true;
  const services = [seen.service, seen.formerService].filter((s): s is string => s !== undefined && s !== '');
  const saved = await allToEnd(
    services.map((name) =>
      readOutput(
        deps.table,
        { cluster: cluster.id, namespace: seen.namespace, name },
        { kind, name: seen.name },
        noDeltas,
      ),
    ),
  );
  return saved.some((record) => record?.object?.metadata.labels?.[labelSliceManagedBy] === optInManagedBy);
}

/** Where entries of an output kind come from. */
interface Source {
  readonly kind: OutputKind;
  /** They are of a list of that version. */
  readonly listedAt: Version | undefined;
  /** A newer list has begun, which has each output that is still there. */
  readonly isLate: boolean;
}

/** A slice that another client gave to another Service is gone from its own. */
async function saveWhereSeen(context: MessageContext, source: Source, seen: OutputEntry): Promise<void> {
  const { formerService, ...now } = seen;
  if (formerService && formerService !== seen.service)
    await saveObserved(context, source, { ...now, service: formerService, deleted: true });
  const state = seen.service === '' ? undefined : await stateToSave(context, source, now);
  if (state) await saveObserved(context, source, state);
}

/**
 * A slice that another client gave to another manager is gone. Of a list, its comparison with what is saved
 * tells that (unlisted-outputs.ts). The deletion of an output that a newer list does not have may not be sent
 * again, so a late message does not bring it back.
 */
async function stateToSave(
  context: MessageContext,
  { kind, listedAt, isLate }: Source,
  seen: OutputEntry,
): Promise<OutputEntry | undefined> {
  if (listedAt !== undefined && seen.deleted) return newlyGone(context, kind, seen);
  if (!isTheirs(kind, seen)) return listedAt === undefined ? newlyGone(context, kind, seen) : undefined;
  return seen.deleted || !isLate || (await readSeen(context, kind, seen))?.object ? seen : undefined;
}

async function newlyGone(
  context: MessageContext,
  kind: OutputKind,
  seen: OutputEntry,
): Promise<OutputEntry | undefined> {
  const saved = await readSeen(context, kind, seen);
  return isKnownGone(saved, seen) || isOurs(saved, seen) ? undefined : { ...seen, deleted: true };
}

/** A living slice of the opt-in was never theirs, unless it was seen so. */
const isOurs = (saved: OutputRecord | undefined, { managedBy, deleted }: OutputEntry): boolean =>
  managedBy === optInManagedBy && !deleted && !saved?.object;

/** Slices of other managers change often. Of one with another uid, an earlier message may be still to come. */
const isKnownGone = (saved: OutputRecord | undefined, { uid }: OutputEntry): boolean =>
  saved !== undefined && !saved.object && saved.uid === uid;

/** Written by the cluster's own controllers. */
export const isTheirs = (kind: OutputKind, { managedBy }: Pick<OutputEntry, 'managedBy'>): boolean =>
  kind === 'Endpoints' || managedBy === slicesManagedBy;

const readSeen = (
  { deps, cluster }: MessageContext,
  kind: OutputKind,
  { namespace, service, name }: OutputEntry,
): Promise<OutputRecord | undefined> =>
  readOutput(deps.table, { cluster: cluster.id, namespace, name: service }, { kind, name }, 'observed');

/**
 * Shadow mode: sync compares with what the cluster's own controllers wrote, each time that changes. An event
 * wakes the service whenever its message comes again: the run that has saved it may have failed before it
 * did. A list does not: it would wake every service of which nothing has changed.
 */
async function saveObserved(
  context: MessageContext,
  { kind, listedAt }: Source,
  seen: OutputEntry,
): Promise<void> {
  const { deps, cluster, effects, incarnation } = context;
  // A relay with OUTPUTS=metadata sends nothing to compare with.
  if (!seen.deleted && !seen.object) return;
  const service = { cluster: cluster.id, namespace: seen.namespace, name: seen.service };
  const record = {
    kind,
    name: seen.name,
    uid: seen.uid,
    version: versionOf(incarnation, seen.resourceVersion),
    generation: seen.generation ?? 0,
    object: seen.deleted ? undefined : (seen.object as OutputObject | undefined),
  };
  const observed = await recordObserved(context, service, { seen, listedAt }, record);
  const isNew = await saveOutput(
    deps.table,
    service,
    { ...record, ...(observed && { observed }) },
    {
      source: 'observed',
      again: listedAt === undefined,
      listedAt,
    },
  );
  if (isNew) effects.wake(seen.namespace, seen.service, { delaySeconds: minSyncDelaySeconds });
}
