/** A timeline from the cluster itself. */

import type { LiveQuestion } from '#infra/cli/ask/live/explain-live.ts';
import type { LiveCluster } from '#infra/cli/ask/live/live-cluster.ts';
import { readAnswer } from '#infra/cli/ask/live/read-world.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { podSteps, readyStep } from './pod-steps.ts';
import { servedStep } from './served-step.ts';
import { type TimelineData, timelineOf } from './timeline.ts';

/** Throws a UsageError for an unknown pod. */
export async function liveTimeline(
  cluster: LiveCluster,
  { context, namespace, name, pod }: LiveQuestion & { readonly pod: string },
): Promise<TimelineData> {
  const { world, answer } = await readAnswer(cluster, namespace, name);
  const found = world.pods.find(({ metadata }) => metadata.name === pod);
  if (!found) throw new UsageError(`no pod ${pod} in namespace ${namespace}`);
  const steps = [...podSteps(found), servedStep(world.served.slices, pod, readyStep(found).atMs)];
  const isSelected = answer.pods.some((p) => p.name === pod);
  const remarks = isSelected ? [] : [`Service ${name} does not select the pod.`];
  return timelineOf({ cluster: context, namespace, name }, pod, steps, remarks);
}
