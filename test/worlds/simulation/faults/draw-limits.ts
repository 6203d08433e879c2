/**
 * Limits small enough to be crossed in a world of a few objects and a minute. The relations between them
 * (shared/contract/limits.ts) are kept.
 */
import { defaultLimits, type Limits } from '#shared/contract/limits.ts';
import type { Random } from '#test/worlds/simulation/random.ts';

/** In some worlds a batch of events has less time than the worker. */
export type WorldLimits = Limits & { readonly runs: { readonly ingestMs: number } };

/**
 * Where nothing is drawn. A world's minute is short: runs end sooner than in production, and messages come
 * back sooner.
 */
export const ordinaryLimits: WorldLimits = {
  ...defaultLimits,
  runs: { ...defaultLimits.runs, ingestMs: 10_000, maxReceives: 5 },
};

/**
 * Longest that a process may stand still in a world, and that a call may take where calls stall and where
 * they do not (Processes.fate, Actor.call), ms.
 */
export const maxPauseMs = 75_000;
export const maxStallMs = 8_000;
const maxSlowCallMs = 3_000;
/** Longest that a call takes. */
export const maxCallMs = (stalls: number): number => (stalls > 0 ? maxStallMs : maxSlowCallMs);

/** More than a pod with fat labels takes (Life), or a slice of all pods of a world, bytes. */
const fatEntryBytes = 6_000;

/** Each of them is small in some worlds: `share` of these. */
const share = 0.25;

/** The other properties of a world (profile.ts). */
interface World {
  readonly pauses: number;
  readonly slow: number;
  readonly stalls: number;
  readonly sweepWakes: boolean;
  readonly fatLabels: boolean;
}

export function drawLimits(
  random: Random,
  { pauses, sweepWakes, slow, stalls, fatLabels }: World,
  pageSize: number,
): WorldLimits {
  const small = <T>(ordinary: T, drawn: () => T): T => (random.chance(share) ? drawn() : ordinary);
  const between = (ordinary: number, least: number, most: number): number =>
    small(ordinary, () => random.between(least, most));
  const { pods, ingest, sync, sweep, relay, queue, runs, election, requeue } = ordinaryLimits;

  // A run that is too short for its slowest calls gets on by luck alone.
  const ingestMs = slow + stalls > 0 ? runs.ingestMs : between(runs.ingestMs, 700, 3_000);
  const workerMs = between(runs.workerMs, 15_000, 25_000);
  const callMs = maxCallMs(stalls);
  // Requests of a run may arrive after its end.
  const maxIngestMs = (pauses > 0 ? maxPauseMs : 0) + ingestMs + callMs;
  const messageBytes = between(relay.messageBytes, 200, 4_000);
  const drawn: WorldLimits = {
    election,
    requeue: {
      ...requeue,
      endpointsKept: {
        ...requeue.endpointsKept,
        afterSeconds: between(requeue.endpointsKept.afterSeconds, 3, 30),
      },
      unconfirmed: { afterSeconds: between(requeue.unconfirmed.afterSeconds, 2, 5) },
    },
    pods,
    ingest: {
      ...ingest,
      prefetchedObjects: between(ingest.prefetchedObjects, 0, 1),
      outputsPerStep: between(ingest.outputsPerStep, 1, 4),
      maxSelectorBytes: between(ingest.maxSelectorBytes, 0, 1_500),
      maxNamespacesKept: between(ingest.maxNamespacesKept, 0, 1),
      maxSessionsKept: between(ingest.maxSessionsKept, 0, 1),
      memoryAtOnce: between(ingest.memoryAtOnce, 1, 100_000),
      suspectDelaySeconds: between(ingest.suspectDelaySeconds, 1, 10),
      suspiciousCount: between(ingest.suspiciousCount, 1, 4),
      tombstoneMs: between(ingest.tombstoneMs, maxIngestMs, maxIngestMs + 10_000),
    },
    sync: {
      ...sync,
      leaseMs: workerMs < runs.workerMs ? workerMs + callMs + random.between(500, 7_000) : sync.leaseMs,
      maxRuns: between(sync.maxRuns, 1, 3),
      maxHoldMs: between(sync.maxHoldMs, 0, 1_000),
      massRemovalMinEndpoints: between(sync.massRemovalMinEndpoints, 1, 4),
      probeMs: between(sync.probeMs, 5_000, 15_000),
      maxLeaseEnds: between(sync.maxLeaseEnds, 1, 2),
      triggersInline: between(sync.triggersInline, 60, 200),
      triggersPerBucket: between(sync.triggersPerBucket, 1, 3),
    },
    sweep: {
      ...sweep,
      overdueMs: between(sweep.overdueMs, 2_000, 30_000),
      maxOverdue: between(sweep.maxOverdue, 1, 3),
      firstResync: between(sweep.firstResync, 1, 2),
      minResync: between(sweep.minResync, 1, 3),
      maxResync: between(sweep.maxResync, 1, 3),
      // It would hide what was lost.
      resyncMinutes: sweepWakes ? between(sweep.resyncMinutes, 1, 4) : sweep.resyncMinutes,
    },
    relay: {
      ...relay,
      pageSize: fatLabels ? random.between(8, 20) : between(pageSize, 1, 2),
      outputsResyncMs: between(relay.outputsResyncMs, 10_000, 60_000),
      heartbeatMs: between(relay.heartbeatMs, 1_000, 5_000),
      partBytes: between(relay.partBytes, 300, 2_000),
      maxWaiting: between(relay.maxWaiting, 1, 4),
      maxWaitingBytes: between(relay.maxWaitingBytes, 100, 2_000),
      messageEntries: between(relay.messageEntries, 1, 3),
      messageBytes: fatLabels ? Math.min(messageBytes, 4_000) : messageBytes,
      ...(fatLabels
        ? { entryBytes: fatEntryBytes, partTextBytes: random.between(fatEntryBytes + 500, 2 * fatEntryBytes) }
        : {}),
    },
    queue: {
      ...queue,
      plainBytes: between(queue.plainBytes, 0, 1_000),
      // A part holds one entry more than its bytes, and the header; and so does a message.
      inflateBytes: fatLabels
        ? Math.max(Math.min(messageBytes, 4_000), 2 * fatEntryBytes) + fatEntryBytes + 1_000
        : queue.inflateBytes,
    },
    runs: {
      ...runs,
      ingestMs,
      workerMs,
      visibilityRuns: runs.visibilityRuns,
      batchSize: between(runs.batchSize, 1, 3),
    },
  };
  return { ...drawn, sync: withSavedText(drawn.sync) };
}

/** Without a draw of its own, so that a seed's world is what it was otherwise. */
const withSavedText = (sync: Limits['sync']): Limits['sync'] => ({
  ...sync,
  historyNamed: sync.maxLeaseEnds === 1 ? 1 : sync.historyNamed,
  historyBytes:
    sync.triggersInline < ordinaryLimits.sync.triggersInline ? 6 * sync.triggersInline : sync.historyBytes,
  unitBytes:
    sync.triggersPerBucket < ordinaryLimits.sync.triggersPerBucket
      ? 100 + 100 * sync.triggersPerBucket
      : sync.unitBytes,
  savedBytes: sync.probeMs < ordinaryLimits.sync.probeMs ? sync.probeMs / 40 : sync.savedBytes,
});
