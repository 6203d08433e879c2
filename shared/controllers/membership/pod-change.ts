import { type Labels, sameLabels } from '#shared/kube/labels.ts';
import { isPodReady, shouldPodBeInEndpoints } from '#shared/kube/pods.ts';
import type { Pod } from '#shared/kube/types.ts';

/** A change of a pod, as far as it decides which services of the namespace are enqueued (PK-1, PK-7). */
export interface PodChange {
  readonly labels: Labels;
  /** Only if the labels changed: services that the pod has left are found by them. */
  readonly oldLabels?: Labels;
  /** More than the labels changed, so services that have the pod before and after are concerned too. */
  readonly podChanged: boolean;
}

/**
 * Undefined when no service is concerned. Undefined `old`: added; undefined `next`: deleted. Mirrors the pod
 * handler of k8s.io/endpointslice/util (PK-1..8) as values. A change of phase alone wakes nothing (PK-8), for
 * one. `byEligibility`: as from v1.38 on, where it does, and where a pod that can be no endpoint before and
 * after wakes nothing (DF-30).
 */
export function podChange(
  old: Pod | undefined,
  next: Pod | undefined,
  byEligibility = false,
): PodChange | undefined {
  const pod = next ?? old;
  if (!pod || old === next) return undefined;
  if (byEligibility && !isEligible(old) && !isEligible(next)) return undefined;
  if (old && next) return updateOf(old, next, byEligibility);
  return { labels: pod.metadata.labels ?? {}, podChanged: false };
}

function updateOf(old: Pod, next: Pod, byEligibility: boolean): PodChange | undefined {
  if (isSameVersion(old, next)) return undefined;
  const labels = next.metadata.labels ?? {};
  const podChanged = contentChanged(old, next) || (byEligibility && isEligible(old) !== isEligible(next));
  if (!labelsChanged(old, next)) return podChanged ? { labels, podChanged } : undefined;
  // without old labels the change counts as an addition (PK-13)
  return { labels, podChanged, ...(old.metadata.labels && { oldLabels: old.metadata.labels }) };
}

const isEligible = (pod: Pod | undefined): boolean => pod !== undefined && shouldPodBeInEndpoints(pod, true);

/** PK-5. A pod that is being deleted counts as changed whenever it is updated (PK-6). */
function contentChanged(old: Pod, next: Pod): boolean {
  if (old.metadata.deletionTimestamp || next.metadata.deletionTimestamp) return true;
  if (isPodReady(old) !== isPodReady(next)) return true;
  const [before, after] = [old.status?.podIPs ?? [], next.status?.podIPs ?? []];
  return before.length !== after.length || before.some(({ ip }, i) => ip !== after[i]?.ip);
}

/** PK-4. No labels and empty labels differ here, as upstream. */
function labelsChanged(old: Pod, next: Pod): boolean {
  return (
    !old.metadata.labels !== !next.metadata.labels ||
    !sameLabels(old.metadata.labels, next.metadata.labels) ||
    (old.spec?.hostname ?? '') !== (next.spec?.hostname ?? '') ||
    (old.spec?.subdomain ?? '') !== (next.spec?.subdomain ?? '')
  );
}

/** The same version was delivered again. Projected pods carry no version; their fields are compared. */
function isSameVersion(old: Pod, next: Pod): boolean {
  const { resourceVersion } = next.metadata;
  return Boolean(resourceVersion) && resourceVersion === old.metadata.resourceVersion;
}
