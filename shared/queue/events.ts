/** An events message as ingest handles it: with its entries checked. */
import { defaultLimits, type QueueLimits } from '#shared/contract/limits.ts';
import { encodeMessage } from './codec.ts';
import type {
  Entry,
  HeartbeatMessage,
  InputEntries,
  ListPartMessage,
  LiveMessage,
  OutputEntries,
} from './messages.ts';
import { checkEntries, parseEventsMessage, type RefusedEntry } from './parse.ts';

type Checked<M> = Omit<M, 'omitted'> & {
  /** Entries that are not applied. The stored records of their objects stay as they are. */
  readonly refused: readonly RefusedEntry[];
  /**
   * Keys "namespace/name" of objects that exist without an entry: the relay cannot send them, or their
   * entries are refused.
   */
  readonly omitted: ReadonlySet<string>;
};

export type LiveInputs = Checked<LiveMessage<InputEntries>>;
export type LiveOutputs = Checked<LiveMessage<OutputEntries>>;
export type InputListPart = Checked<ListPartMessage<InputEntries>>;
export type OutputListPart = Checked<ListPartMessage<OutputEntries>>;
export type Events = LiveInputs | LiveOutputs | InputListPart | OutputListPart | HeartbeatMessage;

/** Throws UnreadableMessage with the error, the given value and the allowed values. */
export function readEvents(body: string, limits: QueueLimits = defaultLimits.queue): Events {
  const m = parseEventsMessage(body, limits);
  if (m.type === 'heartbeat') return m;
  const { accepted, refused } = checkEntries<Entry>(m.kind, m.entries);
  const keys = refused.map(({ namespace, name }) => `${namespace}/${name}`);
  const omitted = new Set([...(m.type === 'list' ? (m.omitted ?? []) : []), ...keys]);
  return { ...m, entries: accepted, refused, omitted } as Events;
}

/**
 * Encodes entries of a received message as a separate message: for their second look, or refused entries for
 * the quarantine. An operator can redrive these after a fix without effect on other objects.
 */
export const encodeEntries = (
  { v, cluster, session, uid, firstListVersion, kind, asOf }: Omit<LiveMessage, 'type' | 'entries'>,
  entries: readonly object[],
): string => encodeMessage({ v, cluster, session, uid, firstListVersion, type: 'live', kind, asOf, entries });
