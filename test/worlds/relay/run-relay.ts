import { randomUUID } from 'node:crypto';
import { Relay } from '#functions/relay/relay.ts';
import type { RelayOptions } from '#functions/relay/relay-deps.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import { crdGuard } from '#functions/relay/source/crd-guard.ts';
import type { WatchSource } from '#functions/relay/source/watch-source.ts';
import { httpWatchSource } from '#functions/relay/source/watch-source-http.ts';
import type { Connection, TokenSource } from '#shared/clusters/api/connection.ts';
import { mcsVersions } from '#shared/clusters/api/mcs-versions.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import { defaultLimits, type RelayLimits } from '#shared/contract/limits.ts';
import type { Kind } from '#shared/kube/types.ts';
import type {
  Entry,
  EventsMessage,
  HeartbeatMessage,
  ListPartMessage,
  LiveMessage,
} from '#shared/queue/messages.ts';
import { parseEventsMessage } from '#shared/queue/parse.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Fields, Log } from '#shared/telemetry/port.ts';
import { fastClock, speed } from './fast-clock.ts';

export interface RelayRun {
  readonly relay: Relay;
  readonly meter: Meter;
  readonly logged: readonly { readonly level: string; readonly message: string; readonly fields: Fields }[];
  /** Messages that the queue has accepted, in order. */
  readonly messages: readonly EventsMessage[];
  /** Makes the queue refuse everything. */
  refuseSends(refuse: boolean): void;
  lists(kind: Kind): ListPartMessage[];
  live(kind: Kind): LiveMessage[];
  heartbeats(): HeartbeatMessage[];
  /** Newest state of each object of the kind by all messages. */
  state(kind: Kind): Map<string, Entry>;
  /** Resolves as `relay.run` does. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

export interface RunOptions extends Partial<RelayOptions> {
  readonly token?: TokenSource;
  readonly wrap?: (source: WatchSource) => WatchSource;
  readonly limits?: Partial<RelayLimits>;
}

/** `to`: an API server, by its address alone where it asks for nothing else. */
export function runRelay(
  to: string | Connection,
  { token, wrap = (s) => s, limits, ...options }: RunOptions = {},
): RelayRun {
  const clock = fastClock;
  const messages: EventsMessage[] = [];
  let refusing = false;
  const queue: MessageQueue = {
    async send(outgoing) {
      // As long as a send takes.
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (refusing) throw new Error('the queue cannot be reached');
      messages.push(...outgoing.map((m) => parseEventsMessage(m.body)));
    },
  };
  const logged: RelayRun['logged'][number][] = [];
  const transport = mcsVersions(
    httpTransport(typeof to === 'string' ? { server: to } : to, {
      ...(token && { token }),
      timeoutMs: 2_000,
    }),
  );
  const log = recordingLog(logged);
  const meter = new Meter();
  const source = wrap(crdGuard(httpWatchSource(transport, clock), transport, log));
  const relay = new Relay(
    {
      source,
      queue,
      clock,
      log,
      meter,
      newId: randomUUID,
      limits: { ...defaultLimits, relay: { ...defaultLimits.relay, ...limits } },
    },
    { cluster: 'test', outputs: 'metadata', resyncMs: 86_400_000, drainMs: 4_000 * speed, ...options },
  );
  const stopping = new AbortController();
  const ended = relay.run(stopping.signal);
  // Tests may await the failure, but do not have to.
  ended.catch(() => {});
  const of = <T extends EventsMessage>(type: T['type'], kind?: Kind): T[] =>
    messages.filter(
      (m) => m.type === type && (kind === undefined || (m as { kind?: Kind }).kind === kind),
    ) as T[];
  return {
    relay,
    meter,
    logged,
    messages,
    ended,
    refuseSends: (refuse) => {
      refusing = refuse;
    },
    lists: (kind) => of<ListPartMessage>('list', kind),
    live: (kind) => of<LiveMessage>('live', kind),
    heartbeats: () => of<HeartbeatMessage>('heartbeat'),
    state(kind) {
      const state = new Map<string, Entry>();
      for (const message of [...of<ListPartMessage>('list', kind), ...of<LiveMessage>('live', kind)]) {
        for (const entry of message.entries) {
          const key = `${entry.namespace}/${entry.name}`;
          if (BigInt(state.get(key)?.resourceVersion ?? '0') < BigInt(entry.resourceVersion))
            state.set(key, entry);
        }
      }
      return state;
    },
    async stop() {
      stopping.abort(new Error('stopped by the test'));
      await ended;
      transport.close();
    },
  };
}

function recordingLog(lines: { level: string; message: string; fields: Fields }[], fields: Fields = {}): Log {
  const at =
    (level: string) =>
    (message: string, more: Fields = {}) =>
      void lines.push({ level, message, fields: { ...fields, ...more } });
  return {
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (more) => recordingLog(lines, { ...fields, ...more }),
  };
}
