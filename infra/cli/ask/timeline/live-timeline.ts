/** A timeline from the cluster itself. */

import type { LiveCluster } from '#infra/cli/ask/live/live-cluster.ts';
import { readAnswer } from '#infra/cli/ask/live/read-world.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { podSteps } from './pod-steps.ts';
import { servedStep } from './served-step.ts';
import { timelineOf } from './timeline.ts';
import type { TimelineOf } from './timeline-answer.ts';

export interface LivePod {
  /** The name of the context, for the first line. */
  readonly context: string;
  readonly namespace: string;
  readonly name: string;
  readonly pod: string;
}

/** Throws a UsageError for an unknown pod. */
export async function liveTimeline(
  cluster: LiveCluster,
  { context, namespace, name, pod }: LivePod,
): Promise<TimelineOf> {
  const { world, answer } = await readAnswer(cluster, namespace, name);
  const found = world.pods.find(({ metadata }) => metadata.name === pod);
  if (!found) throw new UsageError(`no pod ${pod} in namespace ${namespace}`);
  const steps = podSteps(found);
  const readyAtMs = steps.find(({ step, state }) => step === 'Ready' && state === 'done')?.atMs;
  const isSelected = answer.pods.some((p) => p.name === pod);
  return {
    ...{ cluster: context, namespace, name },
    timeline: timelineOf(pod, [...steps, servedStep({ slices: world.served.slices, pod, readyAtMs })]),
    remarks: isSelected ? [] : [`Service ${name} does not select the pod.`],
  };
}
