import { withNotReady } from '#shared/kube/projection/not-ready.ts';
import type { Pod } from '#shared/kube/types.ts';
import { decodeObjectOf, type ObjectRecord } from './objects.ts';

/**
 * Returns the Pod of a record with what kubelet and the scheduler say of it while it is not ready: reasons of
 * its conditions, readiness gates, containers that wait. For explain and the console alone: decisions read
 * the Pod of the projection (namespace-pods.ts), so that no run depends on these fields.
 */
export function podForAnswers(record: ObjectRecord): Pod | undefined {
  const pod = decodeObjectOf('Pod', record);
  return pod && withNotReady(pod, record.notReady);
}
