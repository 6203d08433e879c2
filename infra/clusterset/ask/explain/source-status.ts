/** The state of a source cluster in imports, with the reason. */

import type { SourceStateName } from '#infra/cli/ask/explain/explanation.ts';
import { timeText } from '#infra/cli/ask/explain/facts.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { hasSynced, missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { hasLeft } from '#shared/clusters/writer/mode.ts';
import { isFresh } from '#shared/clusterset/imports/source-state.ts';
import { sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { isListed } from '#shared/clusterset/membership/source-witness.ts';
import { silentAfterMs } from '#shared/contract/silence.ts';

export interface SourceStatus {
  readonly state: SourceStateName;
  readonly why: string;
}

const kept = 'its slices stay in every importer as they are';

export function sourceStatus(record: ClusterRecord, now: number): SourceStatus {
  const { heartbeatAtMs } = record.relay;
  const isPaused = record.mode === 'paused';
  if (hasLeft(record))
    return { state: 'left', why: 'the cluster is deregistered: its endpoints are withdrawn' };
  if (record.isRebuilding) return { state: 'silent', why: `an operator rebuilds its records: ${kept}` };
  const source = sourceOf(record);
  if (source?.state === 'evicted')
    return {
      state: 'evicted',
      why: `relay and API are both silent since ${timeText(source.sinceMs, now)}: importers with another ready source remove its endpoints`,
    };
  const isBeating = isFresh({ isSynced: hasSynced(record), isPaused, heartbeatAtMs }, now);
  if (isBeating && source?.state !== 'silent')
    return { state: 'fresh', why: `last heartbeat ${timeText(heartbeatAtMs, now)}` };
  const what = isListed(record) ? 'its API answers, and imports take its pods from there' : kept;
  const silent = (why: string): SourceStatus => ({ state: 'silent', why: `${why}: ${what}` });
  if (isBeating) return silent('its relay has just returned, and counts from its second heartbeat on');
  if (isPaused) return silent('an operator has paused the cluster');
  if (heartbeatAtMs === 0) return silent('its relay has not sent a heartbeat yet');
  if (now - heartbeatAtMs > silentAfterMs)
    return silent(`its relay sent its last heartbeat ${timeText(heartbeatAtMs, now)}`);
  const missing = missingFirstLists(record);
  return silent(
    missing.length > 0
      ? `its first lists of ${missing.join(', ')} are missing`
      : 'a session of its relay does not fit its history',
  );
}
