/** The stored differences of a service, if they apply to the cluster's current switches. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { hasRuns, isShadow } from '#shared/clusters/writer/mode.ts';
import { isHandOverNote } from '#shared/controllers/opt-in/hand-over.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import type { Service } from '#shared/kube/types.ts';
import type { ShadowRecord } from '#shared/store/outputs/shadow-record.ts';

export interface ShownDifferences {
  readonly title: string;
  readonly lines: readonly string[];
}

/**
 * A comparison belongs to shadow mode, and stays in the table when the mode is switched. A preview belongs to
 * a cluster whose opt-in switch is shadow.
 */
export function shownDifferences(
  service: Service | undefined,
  cluster: Pick<ClusterRecord, 'mode' | 'optIn'>,
  stored: ShadowRecord | undefined,
): ShownDifferences {
  const lines = stored ? (JSON.parse(stored.text) as readonly string[]) : [];
  const shown = (title: string, holds: boolean): ShownDifferences => ({ title, lines: holds ? lines : [] });
  if (stored && isHandOverNote(stored.text)) return shown('Hand-over', hasRuns(cluster));
  if (service && writerOf(service).by === 'opt-in') return shown('Preview', cluster.optIn === 'shadow');
  return shown('Differences', isShadow(cluster));
}
