/**
 * The stored trigger-time state (TT-1). Each controller has its own state. The two are nearly always equal,
 * because a new wake-up runs both controllers, and are then stored once. State of up to some 60 pods is part
 * of the work item. Larger state is in buckets, which are separate items, so a change of one pod writes about
 * a kilobyte instead of all of it.
 */
import { allToEnd } from '#shared/concurrently.ts';
import { defaultLimits, type SyncLimits } from '#shared/contract/limits.ts';
import type { TriggerTimes } from '#shared/controllers/triggertime/tracker.ts';
import { type Controller, controllers } from '#shared/kube/controllers.ts';
import { bucketOf } from '#shared/kube/hash.ts';
import { type ServiceKey, triggersOf } from './keys.ts';
import type { Item, Table } from './table.ts';

export type Triggers = { readonly [C in Controller]: TriggerTimes | undefined };

/** The state as it was read, so only changed buckets are written. */
export interface StoredTriggers {
  readonly triggers: Triggers;
  /** Bucket → its text, for state in buckets. */
  readonly buckets: ReadonlyMap<string, string>;
}

/** Mark in the work item for state in buckets, followed by their number. */
const bucketsMark = '#';

type Encoded = readonly [service: number, pods: { readonly [name: string]: number }];
interface Text {
  /** `b` is the state of both controllers. Otherwise each controller has its own. */
  readonly b?: Encoded;
  readonly ep?: Encoded;
  readonly sl?: Encoded;
}

/** `text` is the state's attribute in the work item. */
export async function readTriggers(
  table: Table,
  service: ServiceKey,
  text: string | undefined,
): Promise<StoredTriggers> {
  if (text === undefined)
    return { triggers: { endpoints: undefined, slices: undefined }, buckets: new Map() };
  if (!text.startsWith(bucketsMark)) return { triggers: decode([text]), buckets: new Map() };
  const items = await table.query(triggersOf(service));
  const buckets = new Map(items.map((i: Item) => [i.sk, i['t'] as string]));
  return { triggers: decode([...buckets.values()]), buckets };
}

/**
 * Saves large state into its buckets and returns the text for the work item, or null without state. Call
 * under the lease, before the last update. A worker that lost its lease may leave a wrong time, which shows
 * in one annotation until the next change.
 */
export async function saveTriggers(
  table: Table,
  service: ServiceKey,
  { next, stored }: { readonly next: Triggers; readonly stored: StoredTriggers },
  { triggersInline, triggersPerBucket }: SyncLimits = defaultLimits.sync,
): Promise<string | null> {
  const pk = triggersOf(service);
  const drop = (keep: ReadonlyMap<string, string>) =>
    allToEnd([...stored.buckets.keys()].filter((sk) => !keep.has(sk)).map((sk) => table.delete({ pk, sk })));
  if (!next.endpoints && !next.slices) {
    await drop(new Map());
    return null;
  }
  const text = encode(next);
  if (text.length <= triggersInline) {
    await drop(new Map());
    return text;
  }
  const buckets = split(next, triggersPerBucket);
  await allToEnd(
    [...buckets].filter(([sk, t]) => stored.buckets.get(sk) !== t).map(([sk, t]) => table.put({ pk, sk, t })),
  );
  await drop(buckets);
  return `${bucketsMark}${buckets.size}`;
}

function encode({ endpoints: ep, slices: sl }: Triggers): string {
  const text: Text = same(ep, sl)
    ? { ...(ep && { b: encodeTimes(ep) }) }
    : { ...(ep && { ep: encodeTimes(ep) }), ...(sl && { sl: encodeTimes(sl) }) };
  return JSON.stringify(text);
}

const encodeTimes = (t: TriggerTimes): Encoded => [t.service, Object.fromEntries([...t.pods].sort(byName))];
const byName = ([a]: readonly [string, number], [b]: readonly [string, number]): number =>
  a < b ? -1 : a > b ? 1 : 0;

function decode(texts: readonly string[]): Triggers {
  const merged: { [C in Controller]: { service: number; pods: Map<string, number> } | undefined } = {
    endpoints: undefined,
    slices: undefined,
  };
  for (const text of texts) {
    const { b, ep = b, sl = b } = JSON.parse(text) as Text;
    const encoded = { endpoints: ep, slices: sl };
    for (const c of controllers) {
      const times = encoded[c];
      if (!times) continue;
      merged[c] ??= { service: times[0], pods: new Map() };
      const into = merged[c];
      for (const [name, time] of Object.entries(times[1])) into?.pods.set(name, time);
    }
  }
  return merged;
}

/**
 * Divides pods into buckets by a hash of their names. A pod stays in its bucket until the number of buckets
 * doubles.
 */
function split(next: Triggers, podsPerBucket: number): ReadonlyMap<string, string> {
  const pods = Math.max(next.endpoints?.pods.size ?? 0, next.slices?.pods.size ?? 0);
  const count = 2 ** Math.ceil(Math.log2(pods / podsPerBucket));
  const buckets = Array.from({ length: count }, () => ({
    endpoints: new Map<string, number>(),
    slices: new Map<string, number>(),
  }));
  for (const c of controllers) {
    for (const [name, time] of next[c]?.pods ?? []) buckets[bucketOf(name, count)]?.[c].set(name, time);
  }
  return new Map(
    buckets.map((bucket, i) => [
      `${count}/${i}`,
      encode({
        endpoints: next.endpoints && { service: next.endpoints.service, pods: bucket.endpoints },
        slices: next.slices && { service: next.slices.service, pods: bucket.slices },
      }),
    ]),
  );
}

function same(a: TriggerTimes | undefined, b: TriggerTimes | undefined): boolean {
  if (!a || !b) return a === b;
  if (a.service !== b.service || a.pods.size !== b.pods.size) return false;
  for (const [name, time] of a.pods) if (b.pods.get(name) !== time) return false;
  return true;
}
