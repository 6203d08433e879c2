/**
 * client-go's Done, with AddRateLimited or Forget for each part. Wake-ups are sent before they are recorded,
 * because a crash in between would lose the work in the opposite order.
 */
import type { QueueUrls } from '#shared/clusters/record.ts';
import type { Part } from '#shared/kube/work-kinds.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import type { ClusterQueues, MessageQueue } from '#shared/queue/port.ts';
import type { ParkedCopy, RetryNumbers } from '#shared/queue/wake-up-message.ts';
import type { WorkKey } from '#shared/store/keys.ts';
import type { WorkQueueDeps } from './deps.ts';
import type { RunRecord, RunSaves } from './item-attributes.ts';
import { expireLease, releaseClean, releaseOwing, renew } from './item-store.ts';
import { outgoing } from './outgoing.ts';
import { isClean, isDone, type PartStates, partState, partsBehind, partsToRun } from './rules/item.ts';
import { delayUntil, newWork, retry, wakeUp } from './rules/message.ts';
import { nextState } from './rules/next-state.ts';
import type { Outcome } from './rules/outcome.ts';
import type { Claim } from './take.ts';

export interface FinishedRun extends RunSaves {
  readonly outcomes: ReadonlyMap<Part, Outcome>;
  /** URLs of the cluster's queues from its record. */
  readonly queues: QueueUrls | undefined;
}

/** A part whose retries are used up. */
export interface GivenUp {
  readonly part: Part;
  readonly error: string;
}

export interface Finished {
  /** `continue`: a generation was added during the run, so the lease is kept for it. */
  readonly next:
    | { readonly kind: 'done' }
    | { readonly kind: 'lease-lost' }
    | { readonly kind: 'continue'; readonly claim: Claim };
  readonly gaveUp: readonly GivenUp[];
}

/** `mayContinue` is true if the time suffices for another run under this lease. */
export async function finishWork(
  deps: WorkQueueDeps,
  claim: Claim,
  run: FinishedRun,
  mayContinue: boolean,
): Promise<Finished> {
  const nowMs = deps.now();
  const queues = deps.queues(claim.service.cluster, run.queues);
  const { after, retries, gaveUp } = decide(claim, run.outcomes, nowMs);
  await send(queues, claim, { retries, gaveUp, nowMs });
  const { leaseId, item } = claim;
  const { triggers, deltas, newestRecord } = run;
  const record: RunRecord = {
    leaseId,
    generation: item.generation,
    before: item.parts,
    after,
    triggers,
    deltas,
    newestRecord,
    nowMs,
  };
  const next = await save(deps, claim, record, { mayContinue, queues });
  return { next, gaveUp };
}

/**
 * Ends the lease of a run that threw, whose calls have all ended. The lease stays on the item, so the next
 * worker takes the service over: it reads from the API server what this run may have written and not saved.
 * Never rejects, because the lease also ends by itself.
 */
export async function abandonWork(deps: WorkQueueDeps, { service, leaseId, message }: Claim): Promise<void> {
  try {
    const nowMs = deps.now();
    const item = await expireLease(deps.table, service, leaseId, nowMs);
    // The message comes back, unless an earlier run under the lease has covered it. Newer work then has no
    // wake-up before the lease would have ended.
    if (!item || isClean(item) || partsToRun(message, item).length > 0) return;
    await sendNewWork(deps.queues(service.cluster, undefined).syncs, service, item.generation, nowMs);
  } catch (error) {
    deps.log.warn('a run that failed keeps its lease until the end', { ...service, error: String(error) });
  }
}

/** Sends the wake-up of work that was taken as it was added, and whose run has not ended. */
export const sendAgain = (deps: WorkQueueDeps, { service, message }: Claim): Promise<void> =>
  deps.queues(service.cluster, undefined).syncs.send([outgoing({ message, delaySeconds: 0 })]);

interface Decided {
  readonly after: PartStates;
  /** Retries by their wait in seconds. Parts with the same wait share a wake-up. */
  readonly retries: ReadonlyMap<number, { readonly numbers: RetryNumbers; readonly requeues: number }>;
  readonly gaveUp: readonly GivenUp[];
}

type Requeued = Extract<Outcome, { readonly kind: 'requeued' }>;

const longestRequeue = (outcomes: Iterable<Outcome>): number =>
  Math.max(0, ...[...outcomes].map((o) => (o.kind === 'requeued' ? o.requeueAfterSeconds : 0)));

const requeuesInRow = ({ endsRow }: Requeued, { requeues = 0 }: Claim['message']): number =>
  (endsRow ? 0 : requeues) + 1;

function decide({ item, message }: Claim, outcomes: ReadonlyMap<Part, Outcome>, nowMs: number): Decided {
  const after: { -readonly [P in Part]?: PartStates[P] } = {};
  const retries = new Map<number, { readonly numbers: RetryNumbers; readonly requeues: number }>();
  const gaveUp: GivenUp[] = [];
  const requeueAfterSeconds = longestRequeue(outcomes.values());
  for (const [part, outcome] of outcomes) {
    const next = nextState(part, partState(item, part), outcome, {
      generation: item.generation,
      retryNumber: message.retryNumbers[part],
      delayedByBatch: message.delayedByBatch === true,
      requeueAfterSeconds,
      nowMs,
    });
    after[part] = next.state;
    const seconds = next.retryInSeconds;
    if (seconds !== undefined) {
      const { numbers = {}, requeues = 0 } = retries.get(seconds) ?? {};
      retries.set(seconds, {
        numbers: { ...numbers, [part]: next.state.retryNumber },
        requeues: outcome.kind === 'requeued' ? requeuesInRow(outcome, message) : requeues,
      });
    }
    if (next.gaveUp !== undefined) gaveUp.push({ part, error: next.gaveUp });
  }
  return { after, retries, gaveUp };
}

interface ToSend extends Pick<Decided, 'retries' | 'gaveUp'> {
  readonly nowMs: number;
}

async function send(
  queues: ClusterQueues,
  { message, item }: Claim,
  { retries, gaveUp, nowMs }: ToSend,
): Promise<void> {
  const { generation } = item;
  const wakeUps = [...retries].map(([seconds, { numbers, requeues }]) =>
    delayUntil(retry(message, generation, numbers, requeues), nowMs + seconds * 1000, nowMs),
  );
  if (wakeUps.length > 0) await queues.syncs.send(wakeUps.map(outgoing));
  const { cluster, namespace, kind, name } = message;
  const copies = gaveUp.map((g) => ({
    body: encodeMessage({
      cluster,
      namespace,
      kind,
      name,
      ...g,
      generation,
      parkedAtMs: nowMs,
    } satisfies ParkedCopy),
  }));
  if (copies.length > 0) await queues.parked.send(copies);
}

interface Ending {
  readonly mayContinue: boolean;
  readonly queues: ClusterQueues;
}

/** Releases the lease, or keeps it for a generation that was added meanwhile. */
async function save(
  deps: WorkQueueDeps,
  claim: Claim,
  record: RunRecord,
  { mayContinue, queues }: Ending,
): Promise<Finished['next']> {
  const { service } = claim;
  if (isDone({ kind: service.kind, parts: { ...record.before, ...record.after } }, record.generation)) {
    if (await releaseClean(deps.table, service, record)) return { kind: 'done' };
    if (mayContinue) {
      const item = await renew(deps.table, service, record, deps.now() + deps.limits.sync.leaseMs);
      if (!item) return { kind: 'lease-lost' };
      // The run is done, which ends a row of requeued runs.
      const message = { ...claim.message, requeues: undefined };
      return {
        kind: 'continue',
        claim: { ...claim, message, item, parts: partsBehind(item), wasTakenOver: false },
      };
    }
  }
  const item = await releaseOwing(deps.table, service, record);
  if (!item) return { kind: 'lease-lost' };
  // Wake-ups that met the lease meanwhile return at its end, in case this worker dies before it sends the
  // following one.
  if (item.generation > record.generation) {
    await sendNewWork(queues.syncs, service, item.generation, deps.now());
  }
  return { kind: 'done' };
}

/** A wake-up for a generation that came while a worker had the lease. */
function sendNewWork(
  syncs: MessageQueue,
  { cluster, namespace, kind, name }: WorkKey,
  generation: number,
  nowMs: number,
): Promise<void> {
  return syncs.send([outgoing(newWork(cluster, wakeUp(namespace, name, { kind }), generation, nowMs))]);
}
