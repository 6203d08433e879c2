/**
 * The history of endpoints that the hub does not write: a record for each state of an output that the relay
 * sends whole, before the state is saved. A failure here fails nothing else; it is counted.
 */

import { concurrently } from '#shared/concurrently.ts';
import { type Addresses, addressesOf } from '#shared/controllers/history/addresses.ts';
import type { Why } from '#shared/controllers/history/changes.ts';
import { type ObservedState, observedRecord } from '#shared/controllers/history/observed-record.ts';
import { shortened } from '#shared/controllers/history/shortened.ts';
import { verdictsOf } from '#shared/controllers/verdicts/pod-verdicts.ts';
import type { ObservedSoFar } from '#shared/kube/listed-endpoints.ts';
import type { OutputEntry } from '#shared/queue/messages.ts';
import { decodeObjectOf, readObject } from '#shared/store/inputs/objects.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { saveObservedRecord } from '#shared/store/outputs/observed-records.ts';
import { type OutputRecord, readOutput } from '#shared/store/outputs/outputs.ts';
import { incarnationOf, type Version } from '#shared/store/version.ts';
import type { MessageContext } from '../batch/batch-context.ts';

/** Maximum number of pods of a change whose reasons are looked up. */
const maxReasons = 10;

/**
 * Writes the record of a state that is about to be saved, if it changes an address. Resolves to what is known
 * of the output's records after it, to be saved with the state.
 */
export async function recordObserved(
  context: MessageContext,
  service: ServiceKey,
  { seen, listedAt }: { readonly seen: OutputEntry; readonly listedAt: Version | undefined },
  record: OutputRecord,
): Promise<ObservedSoFar | undefined> {
  const { deps, cluster } = context;
  const { historyDays: days } = cluster.settings;
  if (days === 0) return undefined;
  try {
    const before = await readOutput(deps.table, service, record, 'observed');
    if (before && !isLater(record, before)) return before.observed;
    const isListed = listedAt !== undefined;
    const [from, after] = [addressesBefore(before, record, isListed), addressesIn(record)];
    const atMs = seen.observedAtMs ?? deps.now();
    const made = observedRecord({
      ...{ before: from, after, soFar: before?.observed, maxNamed: deps.limits.sync.historyNamed },
      why: await whyOf(context, service, from ? changedPods(from, after) : []),
      of: factsOf(seen, record, { atMs, isListed }),
    });
    if (!made) return before?.observed;
    const text = JSON.stringify(made.record);
    deps.metrics.put('HistoryBytes', text.length, { cluster: cluster.id });
    const item = { ...record, isDeleted: !record.object, text };
    await saveObservedRecord(deps.table, service, item, { atMs, days });
    return made.soFar;
  } catch (error) {
    deps.metrics.put('HistoryLost', 1, { cluster: cluster.id });
    deps.log.warn('history lost', { ...service, error: String(error) });
    return undefined;
  }
}

const factsOf = (
  { manager, lateMs }: OutputEntry,
  { kind, name, object }: OutputRecord,
  { atMs, isListed }: { readonly atMs: number; readonly isListed: boolean },
): ObservedState['of'] => ({
  ...{ atMs, output: { kind, name } },
  ...(manager !== undefined && { manager }),
  ...(lateMs !== undefined && { lateMs }),
  ...(isListed && { isListed }),
  ...(!object && { isDeleted: true }),
});

/** A deletion that a list shows has the version of the object. */
const isLater = (record: OutputRecord, before: OutputRecord): boolean =>
  record.version > before.version ||
  (record.version === before.version && !record.object && before.object !== undefined);

/**
 * Undefined: not known. An output that only a list shows, or one of a lost history, had unknown addresses. One
 * that the watch shows first is new.
 */
function addressesBefore(
  before: OutputRecord | undefined,
  { version }: OutputRecord,
  isListed: boolean,
): Addresses | undefined {
  if (!before) return isListed ? undefined : new Map();
  const isOfHistory = incarnationOf(before.version) === incarnationOf(version);
  return before.isMetadataOnly || !isOfHistory ? undefined : addressesIn(before);
}

const addressesIn = ({ object }: OutputRecord): Addresses => addressesOf(object ? [object] : []);

function changedPods(from: Addresses, after: Addresses): readonly string[] {
  const keys = [...new Set([...from.keys(), ...after.keys()])];
  const changed = keys.filter((key) => from.get(key)?.state !== after.get(key)?.state);
  return [...new Set(changed.map((key) => (after.get(key) ?? from.get(key))?.pod ?? ''))];
}

/** The reasons of `explain`, by the Service and the pods as they are stored now. */
async function whyOf({ store }: MessageContext, service: ServiceKey, pods: readonly string[]): Promise<Why> {
  const { namespace, name } = service;
  const named = pods.filter(Boolean).slice(0, maxReasons);
  if (named.length === 0) return () => ({ reason: 'NoPod', why: 'an address without a pod' });
  const [of, ...records] = await concurrently(4, [undefined, ...named], (pod) =>
    pod === undefined
      ? readObject(store, 'Service', namespace, name)
      : readObject(store, 'Pod', namespace, pod),
  );
  const found = new Map(named.map((pod, i) => [pod, decodeObjectOf('Pod', records[i])]));
  return (pod) => {
    if (pod === '') return { reason: 'NoPod', why: 'an address without a pod' };
    if (!found.has(pod)) return { reason: '', why: '' };
    const { reason, why } = verdictsOf(
      decodeObjectOf('Service', of),
      { pod: found.get(pod), formerLabels: [] },
      new Map(),
    ).endpoints;
    return { reason, why: shortened(why) };
  };
}
