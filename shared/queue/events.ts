/**
 * An events message as ingest handles it, each field by its name. In the queue the same fields have short names (messages.ts): a message carries
 * hundreds of entries, and an entry is a few hundred bytes. This file alone knows both.
 */
import { defaultLimits, type QueueLimits } from '#shared/contract/limits.ts';
import type { InputKind, Kind, OutputKind } from '#shared/kube/types.ts';

import { encodeMessage } from './codec.ts';
import { type EventsHeader, type InputEntry, type LiveMessage, messageVersion, type OutputEntry, type PartProgress } from './messages.ts';
import { checkEntries, parseEventsMessage, type RefusedEntry } from './parse.ts';

/** Newest state of an object of an input kind, as a relay read it. */
export interface InputState {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** Undefined: the object does not exist as of `resourceVersion`. */
  readonly projection: string | undefined;
  /** When the relay read it, by the relay's clock. */
  readonly observedAtMs: number | undefined;
}

const outputNames = {
  ns: 'namespace',
  name: 'name',
  rv: 'resourceVersion',
  uid: 'uid',
  gen: 'generation',
  svc: 'service',
  oldSvc: 'formerService',
  by: 'managedBy',
  own: 'isOwnWrite',
  gone: 'deleted',
  leader: 'leader',
  again: 'secondLook',
  body: 'object',
  seen: 'observedAtMs',
} as const satisfies { readonly [K in keyof OutputEntry]-?: string };

/** State of an object of an output kind, as a relay read it. `OutputEntry` describes the fields. */
export type OutputState = { readonly [K in keyof OutputEntry as (typeof outputNames)[K]]: OutputEntry[K] };

/** What each events message carries (messages.ts, EventsHeader). */
export interface Speaker {
  readonly cluster: string;
  readonly session: string;
  readonly uid: string;
  /** resourceVersion of the session's first list of Services. */
  readonly firstListVersion: string;
  /** When the relay saw the cluster's history go back, by the relay's clock: the session began because of it. */
  readonly historyRewoundAtMs?: number;
}

/** Fields of every message about objects. */
interface Told {
  readonly asOf: string;
  /** Entries that are not applied: what is stored of their objects stays as it is. */
  readonly refused: readonly RefusedEntry[];
}

export type LiveInputs = Speaker &
  Told & {
    readonly type: 'live';
    readonly kind: InputKind;
    readonly entries: readonly InputState[];
  };
export type LiveOutputs = Speaker &
  Told & {
    readonly type: 'live';
    readonly kind: OutputKind;
    readonly entries: readonly OutputState[];
  };

/** A page of a consistent list, or a part of a page: as of `asOf` exactly its entries exist with keys from < key ≤ to. */
interface ListPart extends Speaker, Told {
  readonly type: 'list';
  readonly listId: string;
  readonly partNumber: number;
  readonly isLast: boolean;
  /** Said by sweep of a list of its own; believed of sessions alone that sweep has registered. */
  readonly isConfirmed: boolean;
  /** How far an earlier run of ingest has got with a part of an output kind. */
  readonly progress: PartProgress | undefined;
  /** The number of the run of ingest that it is for. Of an output kind only runs are counted that did not come to the end of a step. */
  readonly run: number;
  readonly from: string;
  readonly to: string;
}
export type InputListPart = ListPart & { readonly kind: InputKind; readonly entries: readonly InputState[] };
export type OutputListPart = ListPart & { readonly kind: OutputKind; readonly entries: readonly OutputState[] };

export type Heartbeat = Speaker & {
  readonly type: 'heartbeat';
  /** Newest resourceVersion that the relay has read, by kind. */
  readonly readUpTo: { readonly [K in Kind]?: string };
  /** By the relay's clock. */
  readonly sentAtMs: number;
};

export type Events = LiveInputs | LiveOutputs | InputListPart | OutputListPart | Heartbeat;

/** Throws UnreadableMessage, whose text says what was wrong, what was given and what is allowed. */
export function readEvents(body: string, limits: QueueLimits = defaultLimits.queue): Events {
  const m = parseEventsMessage(body, limits);
  const speaker = speakerOf(m);
  if (m.type === 'heartbeat') return { ...speaker, type: m.type, readUpTo: m.high, sentAtMs: m.at };
  const { kind, asOf } = m;
  const { accepted, refused } = checkEntries<InputEntry | OutputEntry>(kind, m.entries);
  const states =
    kind === 'Endpoints' || kind === 'EndpointSlice'
      ? { kind, refused, entries: (accepted as readonly OutputEntry[]).map(outputState) }
      : { kind, refused, entries: (accepted as readonly InputEntry[]).map(inputState) };
  if (m.type === 'live') return { ...speaker, type: m.type, asOf, ...states } as LiveInputs | LiveOutputs;
  const { listId, i: partNumber, from, to, progress, runs: run = 1 } = m;
  const part = { type: m.type, asOf, listId, partNumber, isLast: m.last === true, isConfirmed: m.confirmed === true, progress, run, from, to };
  return { ...speaker, ...part, ...states } as InputListPart | OutputListPart;
}

/** The refused entries of a message as a message of their own: applied again after the hub is mended, it changes no other object. */
export function encodeRefused({ cluster, session, uid, firstListVersion: base, kind, asOf, refused }: Exclude<Events, Heartbeat>): string {
  const entries = refused.map(({ entry }) => entry);
  return encodeMessage({ v: messageVersion, cluster, session, uid, base, type: 'live', kind, asOf, entries } as LiveMessage);
}

/** The message with which entries of an output kind come back for their second look. */
export function encodeSecondLook({
  cluster,
  session,
  uid,
  firstListVersion: base,
  kind,
  asOf,
  entries,
}: Omit<LiveOutputs, 'type' | 'refused'>): string {
  const message: LiveMessage = { v: messageVersion, cluster, session, uid, base, type: 'live', kind, asOf, entries: entries.map(outputEntry) };
  return encodeMessage(message);
}

const speakerOf = ({ cluster, session, uid, base, wentBackAt }: EventsHeader): Speaker => ({
  cluster,
  session,
  uid,
  firstListVersion: base,
  ...(wentBackAt !== undefined && { historyRewoundAtMs: wentBackAt }),
});

const inputState = ({ ns, name, rv, o, seen }: InputEntry): InputState => ({
  namespace: ns,
  name,
  resourceVersion: rv,
  projection: o,
  observedAtMs: seen,
});

const toNames = Object.entries(outputNames);
const toShort = toNames.map(([short, name]) => [name, short] as const);
const outputState = (entry: OutputEntry): OutputState => renamed(entry, toNames) as unknown as OutputState;
const outputEntry = (state: OutputState): OutputEntry => renamed(state, toShort) as unknown as OutputEntry;

/** Fields without a name of the other form are left out. */
function renamed(fields: object, names: readonly (readonly [from: string, to: string])[]): object {
  const given = fields as { readonly [name: string]: unknown };
  return Object.fromEntries(names.flatMap(([from, to]) => (given[from] === undefined ? [] : [[to, given[from]]])));
}
