/** One watch of a kind: each event that changes something of the projection goes to the outbox. */
import type { Kind } from '#shared/kube/types.ts';
import { relayKey } from '../projection/entries.ts';
import { isEcho } from '../projection/own-write.ts';
import { WentBack } from '../runtime/relay-errors.ts';
import { checkVersion, isNewer } from '../source/resource-version.ts';
import type { ObjectEvent, WatchEvent } from '../source/watch-source.ts';
import type { Position } from './position.ts';
import type { ReflectorDeps } from './reflector-deps.ts';

type WatchDeps = Pick<ReflectorDeps, 'source' | 'outbox' | 'sentIndex' | 'clock' | 'meter'>;

export interface WatchRequest {
  readonly kind: Kind;
  /** The watch begins here, and moves it. */
  readonly position: Position;
  /** Called before and after each event. */
  readonly onActivity: (activity: 'watching' | 'waiting') => void;
}

export interface EndedWatch {
  /** Number of events that were read. */
  readonly events: number;
  /** The server has sent something, be it a bookmark. */
  readonly hasBegun: boolean;
  /** Undefined if the server ended the watch in good order. */
  readonly error: unknown;
}

/** Reads a watch to its end into the outbox. Never rejects. */
export async function readWatch(
  deps: WatchDeps,
  { kind, position, onActivity }: WatchRequest,
  signal: AbortSignal,
): Promise<EndedWatch> {
  const { source, outbox } = deps;
  let events = 0;
  let hasBegun = false;
  try {
    onActivity('watching');
    for await (const event of source.watch(kind, position.readUpTo as string, signal)) {
      hasBegun = true;
      onActivity('watching');
      const version = checkOrder(event, position.readUpTo as string);
      if (event.type !== 'BOOKMARK') {
        events++;
        deps.meter.event(kind, deps.clock.now());
        putIfNew(deps, kind, event, version);
      }
      position.moveTo(version);
      if (event.type === 'BOOKMARK' || !outbox.isFull) continue;
      onActivity('waiting');
      await outbox.waitForRoom(signal);
      deps.sentIndex.delays.interrupted(kind);
      onActivity('watching');
    }
    return { events, hasBegun, error: undefined };
  } catch (error) {
    return { events, hasBegun, error };
  }
}

/** The event's version, which is newer than everything that was read before. */
function checkOrder(event: WatchEvent, readUpTo: string): string {
  if (event.type === 'BOOKMARK') {
    const version = checkVersion(event.resourceVersion);
    if (isNewer(readUpTo, version)) throw new WentBack(`a bookmark at ${version} after ${readUpTo}`);
    return version;
  }
  const version = checkVersion(event.object.metadata.resourceVersion);
  if (!isNewer(version, readUpTo)) throw new WentBack(`an event at ${version} after ${readUpTo}`);
  return version;
}

function putIfNew({ outbox, sentIndex }: WatchDeps, kind: Kind, event: ObjectEvent, version: string): void {
  const entry = sentIndex.onEvent(kind, event, version);
  if (entry) outbox.put(kind, relayKey(event.object), entry, isEcho(kind, event, entry));
}
