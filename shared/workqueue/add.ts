/** client-go's Add and AddAfter: enqueues work for a run of all its parts. */
import { concurrently } from '#shared/concurrently.ts';
import { workText } from '#shared/kube/work-kinds.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { WorkKey } from '#shared/store/keys.ts';
import type { StageDeps } from './deps.ts';
import { addGeneration, addMarkedGeneration } from './item-store.ts';
import type { LeaseEndWakeUps } from './lease-end-wake-ups.ts';
import { outgoing } from './outgoing.ts';
import { leaseEndSeconds } from './rules/backoff.ts';
import { isLeased } from './rules/item.ts';
import { allAtLeaseEnd, type Delayed, newWork, type WakeUp } from './rules/message.ts';

/**
 * Collects work to be added, each once, with the earliest time. If any of its wake-ups needs an
 * uncached read, the merged one does, and if any is for a change, the merged one is.
 */
export class WakeUps {
  readonly #wakeUps = new Map<string, WakeUp>();

  add(wakeUp: WakeUp): void {
    const key = `${wakeUp.kind} ${wakeUp.namespace}/${wakeUp.name}`;
    const other = this.#wakeUps.get(key);
    this.#wakeUps.set(
      key,
      other
        ? {
            ...wakeUp,
            delaySeconds: Math.min(other.delaySeconds, wakeUp.delaySeconds),
            readFromApiServer: other.readFromApiServer || wakeUp.readFromApiServer,
            lookOnly: other.lookOnly === true && wakeUp.lookOnly === true,
            observedAtMs:
              other.observedAtMs === undefined
                ? wakeUp.observedAtMs
                : Math.min(other.observedAtMs, wakeUp.observedAtMs ?? other.observedAtMs),
          }
        : wakeUp,
    );
  }

  get all(): readonly WakeUp[] {
    return [...this.#wakeUps.values()];
  }
}

interface AddDeps extends Pick<StageDeps, 'table' | 'now'> {
  /** Absent if services are seldom added. */
  readonly leaseEndWakeUps?: LeaseEndWakeUps;
}

export interface AddedWork {
  /** Number of messages that the queue has accepted. */
  readonly sent: number;
  /**
   * Services to which the table refused to add a generation: it throttles them, or their items are damaged.
   */
  readonly refused: readonly WakeUp[];
  /** Tells the first refusal. Undefined without one. */
  readonly failure: Error | undefined;
}

/**
 * Adds a generation to each service, then sends its wake-up. A redundant wake-up finds its generation done. A
 * service under a lease gets one wake-up at the end of the lease (lease-end-wake-ups.ts), because an earlier
 * one would only find the lease. A refused service keeps no other one from its wake-up. Resolves when the
 * queue has accepted all messages.
 */
export async function addEach(
  deps: AddDeps,
  syncs: MessageQueue,
  cluster: string,
  wakeUps: readonly WakeUp[],
): Promise<AddedWork> {
  const refusals: { readonly wakeUp: WakeUp; readonly error: unknown }[] = [];
  const addOrRefuse = (w: WakeUp): Promise<Added | undefined> =>
    addOne(deps, cluster, w).catch((error: unknown) => void refusals.push({ wakeUp: w, error }));
  const added = (await concurrently(16, wakeUps, addOrRefuse)).flatMap((a) => a ?? []);
  if (added.length > 0) await syncs.send(added.map(({ wakeUp }) => outgoing(wakeUp)));
  for (const { service, leaseEndsMs } of added)
    if (leaseEndsMs !== undefined) deps.leaseEndWakeUps?.sent(service, leaseEndsMs);
  const [first] = refusals;
  return {
    sent: added.length,
    refused: refusals.map((r) => r.wakeUp),
    failure: first && refusalOf(cluster, first, refusals.length),
  };
}

function refusalOf(
  cluster: string,
  { wakeUp, error }: { readonly wakeUp: WakeUp; readonly error: unknown },
  count: number,
): Error {
  const others = count > 1 ? ` (and to ${count - 1} others)` : '';
  const what = `no work can be added to ${workText(wakeUp)} of cluster ${cluster}${others}`;
  return new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}

/**
 * Like `addEach`. Resolves to the number of messages, or rejects after the others are sent if a service was
 * refused.
 */
export async function addWork(
  deps: AddDeps,
  syncs: MessageQueue,
  cluster: string,
  wakeUps: readonly WakeUp[],
): Promise<number> {
  const { sent, failure } = await addEach(deps, syncs, cluster, wakeUps);
  if (failure) throw failure;
  return sent;
}

interface Added {
  readonly service: WorkKey;
  readonly wakeUp: Delayed;
  /** End of the lease, ms since the epoch, for a wake-up at its end. */
  readonly leaseEndsMs?: number | undefined;
}

function markOf(w: WakeUp): 'apiReadGeneration' | 'lookOnlyGeneration' | undefined {
  if (w.readFromApiServer) return 'apiReadGeneration';
  return w.lookOnly ? 'lookOnlyGeneration' : undefined;
}

/** Resolves to the wake-up to be sent, or to undefined if a pending wake-up covers it. */
async function addOne(deps: AddDeps, cluster: string, w: WakeUp): Promise<Added | undefined> {
  const { table, now, leaseEndWakeUps } = deps;
  const service = { cluster, namespace: w.namespace, kind: w.kind, name: w.name };
  const mark = markOf(w);
  // A wake-up that waits for its turn becomes overdue only after it.
  const sinceMs = now() + (w.pace ? w.delaySeconds * 1000 : 0);
  const item = mark
    ? await addMarkedGeneration(table, service, mark, sinceMs)
    : await addGeneration(table, service, sinceMs);
  const addedMs = now();
  if (w.pace === 'follows') return undefined;
  // Later changes rely on a wake-up that `leads` (rules/message.ts), so a lease does not replace it.
  if (w.pace || !item.lease || !isLeased(item, addedMs)) {
    return { service, wakeUp: newWork(cluster, w, w.pace ? 'latest' : item.generation, addedMs) };
  }
  if (leaseEndWakeUps?.isPending(service, addedMs)) return undefined;
  // The wake-up's own delay does not apply, because the holder of the lease runs again at once.
  const wakeUp = allAtLeaseEnd(service, leaseEndSeconds(item.lease.untilMs - addedMs), addedMs);
  return { service, wakeUp, leaseEndsMs: wakeUp.message.dueMs };
}
