import type { Kind } from '#shared/kube/types.ts';
import type { Clock } from './clock.ts';
import type { Meter } from './meter.ts';
import type { Outbox } from './outbox.ts';
import { WentBack } from './relay-errors.ts';
import { checkVersion, isNewer } from './resource-version.ts';
import type { SentIndex } from './sent-index.ts';
import { MalformedAnswer, type WatchSource } from './watch-source.ts';

export interface WatchingDeps {
  readonly source: WatchSource;
  readonly outbox: Outbox;
  readonly sentIndex: SentIndex;
  readonly clock: Clock;
  readonly meter: Meter;
}

/** What becomes of one watch: events read, and whether the server has said anything. */
export interface Progress {
  events: number;
  begun: boolean;
}

/** Reads a watch to its end into the outbox. `now`: what the reader is doing, before and after each event. */
export async function readWatch(
  { source, outbox, sentIndex, clock, meter }: WatchingDeps,
  { kind, from }: { readonly kind: Kind; readonly from: string },
  progress: Progress,
  now: (what: 'watching' | 'waiting') => void,
  signal: AbortSignal,
): Promise<void> {
  let position = from;
  now('watching');
  for await (const event of source.watch(kind, from, signal)) {
    progress.begun = true;
    now('watching');
    const { readUpTo = '' } = outbox.queueOf(kind);
    if (event.type === 'BOOKMARK') {
      const version = checkVersion(event.resourceVersion);
      if (isNewer(position, version)) throw new WentBack(`a bookmark at ${version} after ${position}`);
      position = version;
      if (isNewer(version, readUpTo)) outbox.markRead(kind, version);
      continue;
    }
    if (!event.object.metadata?.name) throw new MalformedAnswer('an object of the watch has no name');
    const version = checkVersion(event.object.metadata.resourceVersion);
    if (!isNewer(version, position)) throw new WentBack(`an event at ${version} after ${position}`);
    position = version;
    progress.events++;
    // Resumed at what was accepted, so some of it is in the outbox already.
    if (!isNewer(version, readUpTo)) continue;
    meter.event(kind, clock.now());
    sentIndex.onEvent(kind, event.type, event.object, version, outbox);
    if (!outbox.isFull) continue;
    now('waiting');
    await outbox.waitForRoom(signal);
    now('watching');
  }
}
