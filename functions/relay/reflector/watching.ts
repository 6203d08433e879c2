/** One watch of a kind: each event that changes something of the projection goes to the outbox. */
import type { Kind } from '#shared/kube/types.ts';
import { relayKey } from '../projection/entries.ts';
import { isEcho } from '../projection/own-write.ts';
import { WentBack } from '../runtime/relay-errors.ts';
import { checkVersion, isNewer } from '../source/resource-version.ts';
import type { ReflectorDeps } from './reflector-deps.ts';

/** Progress of one watch: the number of events read, and whether the server has sent anything. */
export interface WatchProgress {
  events: number;
  begun: boolean;
}

export interface WatchRequest {
  readonly kind: Kind;
  /** Filled in as the watch goes on. */
  readonly progress: WatchProgress;
  /** Called with the reader's activity, before and after each event. */
  readonly now: (what: 'watching' | 'waiting') => void;
}

/** Reads a watch, from the version up to which the kind has been read, to its end into the outbox. */
export async function readWatch(
  {
    source,
    outbox,
    sentIndex,
    clock,
    meter,
  }: Pick<ReflectorDeps, 'source' | 'outbox' | 'sentIndex' | 'clock' | 'meter'>,
  { kind, progress, now }: WatchRequest,
  signal: AbortSignal,
): Promise<void> {
  const queue = outbox.queueOf(kind);
  now('watching');
  for await (const event of source.watch(kind, queue.readUpTo as string, signal)) {
    progress.begun = true;
    now('watching');
    const readUpTo = queue.readUpTo as string;
    if (event.type === 'BOOKMARK') {
      const version = checkVersion(event.resourceVersion);
      if (isNewer(readUpTo, version)) throw new WentBack(`a bookmark at ${version} after ${readUpTo}`);
      outbox.markRead(kind, version);
      continue;
    }
    const version = checkVersion(event.object.metadata.resourceVersion);
    if (!isNewer(version, readUpTo)) throw new WentBack(`an event at ${version} after ${readUpTo}`);
    progress.events++;
    meter.event(kind, clock.now());
    const entry = sentIndex.onEvent(kind, event, version);
    if (entry) outbox.put(kind, relayKey(event.object), entry, isEcho(kind, event, entry));
    else outbox.markRead(kind, version);
    if (!outbox.isFull) continue;
    now('waiting');
    await outbox.waitForRoom(signal);
    now('watching');
  }
}
