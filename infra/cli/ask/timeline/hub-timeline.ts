/** A timeline by the hub's snapshot and history. */
import { explainWithInput } from '#infra/cli/ask/explain-service.ts';
import { readRuns } from '#infra/cli/ask/history-service.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { readyStep } from './pod-steps.ts';
import { recordOf, runSteps } from './run-steps.ts';
import { servedStep } from './served-step.ts';
import { timelineOf } from './timeline.ts';
import type { TimelineOf } from './timeline-answer.ts';

/** Throws a UsageError for an unknown cluster, service or pod. */
export async function hubTimeline(
  table: Table,
  key: ServiceKey,
  pod: string,
  nowMs: number,
): Promise<TimelineOf> {
  const { input } = await explainWithInput(table, key, nowMs, pod);
  const found = input.pods.find(({ name }) => name === pod)?.pod;
  if (!found) throw new UsageError(`pod ${pod} is deleted: history has its changes`);
  const ready = readyStep(found);
  const { records, remarks } = await readRuns(table, key, { sinceMs: 0, nowMs });
  const record = ready.atMs === undefined ? undefined : recordOf(records, pod, ready.atMs);
  const served = servedStep({ slices: input.saved.slices, pod, readyAtMs: ready.atMs });
  const run = record ? runSteps(record) : [];
  const hasServed = run.some(({ step }) => step === 'Served');
  const { namespace, name } = key;
  return {
    ...{ cluster: key.cluster, namespace, name },
    timeline: timelineOf(pod, [ready, ...run, ...(hasServed ? [] : [served])]),
    remarks: [
      `The hub does not read the steps before Ready: kubectl endpoints explain svc/${name} -n ${namespace} --timeline ${pod}`,
      ...(record || ready.state !== 'done'
        ? []
        : ['No run on record lists it since it is ready.', ...remarks]),
    ],
  };
}
