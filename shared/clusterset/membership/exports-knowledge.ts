/** Whether the hub knows which Services a cluster exports. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { hasLeft } from '#shared/clusters/writer/mode.ts';
import { exportsAnything, membershipOf } from './clusterset-membership.ts';

/**
 * - `known`: the first list of its ServiceExports is applied, in its present incarnation.
 * - `unknown`: that list is missing, or the cluster is not registered, as after the loss of the table.
 * - `none`: the cluster was taken out, is in another set, or may export nothing.
 */
export type ExportsKnowledge = 'known' | 'unknown' | 'none';

export function exportsKnowledge(record: ClusterRecord | undefined, set: string): ExportsKnowledge {
  if (!record) return 'unknown';
  if (hasLeft(record)) return 'none';
  if (record.isRebuilding) return 'unknown';
  if (membershipOf(record).set !== set || !exportsAnything(record)) return 'none';
  return hasSynced(record) && record.lists.firstListOf.ServiceExport === record.incarnation
    ? 'known'
    : 'unknown';
}
