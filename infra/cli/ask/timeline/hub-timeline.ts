/** A timeline by the hub's snapshot and history. */
import { explainWithInput } from '#infra/cli/ask/explain-service.ts';
import { effectiveMs } from '#infra/cli/ask/history/record-facts.ts';
import { readRuns } from '#infra/cli/ask/history-service.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { HistoryRecord, PodMoves } from '#shared/controllers/history/history-record.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { readyStep } from './pod-steps.ts';
import { servedStep } from './served-step.ts';
import { done, type Step, type TimelineData, timelineOf } from './timeline.ts';

/** Throws a UsageError for an unknown cluster, service or pod. */
export async function hubTimeline(
  table: Table,
  key: ServiceKey,
  pod: string,
  nowMs: number,
): Promise<TimelineData> {
  const { input } = await explainWithInput(table, key, nowMs, pod);
  const found = input.pods.find(({ name }) => name === pod)?.pod;
  if (!found) throw new UsageError(`pod ${pod} is deleted: history has its changes`);
  const ready = readyStep(found);
  const { records, remarks } = await readRuns(table, key, { sinceMs: 0, nowMs });
  const record = ready.atMs === undefined ? undefined : recordOf(records, pod, ready.atMs);
  const run = record ? runSteps(record) : [];
  const hasServed = run.some(({ step }) => step === 'Served');
  const steps = [ready, ...run, ...(hasServed ? [] : [servedStep(input.saved.slices, pod, ready.atMs)])];
  return timelineOf(key, pod, steps, [
    `The hub does not read the steps before Ready: kubectl endpoints explain svc/${key.name} -n ${key.namespace} --timeline ${pod}`,
    ...(record || ready.state !== 'done' ? [] : ['No run on record lists it since it is ready.', ...remarks]),
  ]);
}

/** Returns the record that lists the pod as ready since it is, the oldest of them. */
function recordOf(
  records: readonly HistoryRecord[],
  pod: string,
  readyAtMs: number,
): HistoryRecord | undefined {
  // kubelet's times are whole seconds.
  return records.find((r) => effectiveMs(r) + 1_000 > readyAtMs && r.changes.some((c) => makesReady(c, pod)));
}

const makesReady = ({ pod, moves }: PodMoves, wanted: string): boolean =>
  pod === wanted && moves.some(({ from, to }) => to?.startsWith('ready') && !from?.startsWith('ready'));

/** By the relay's clock, and by those of the functions. */
function runSteps({ seenMs, dueMs, atMs, acceptedMs, endedMs, by }: HistoryRecord): readonly Step[] {
  const seen = seenMs === undefined ? [] : [done('Seen', 'the relay saw it', seenMs)];
  // Another client wrote, and the relay saw what it wrote.
  if (by !== undefined) return [...seen, done('Served', `the relay saw it in the objects of ${by}`, endedMs)];
  return [
    ...seen,
    ...(dueMs === undefined ? [] : [done('Stored', 'the hub had stored it, and a run was due', dueMs)]),
    done('Run', 'the run began', atMs),
    ...(acceptedMs === undefined
      ? []
      : [done('Written', 'the API server had accepted the write', acceptedMs)]),
  ];
}
