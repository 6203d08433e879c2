/**
 * An events message as ingest handles it, with full names of fields. In the queue the fields have short names (messages.ts), because a message has hundreds
 * of entries of a few hundred bytes. Only this file uses both names.
 */
import { defaultLimits, type QueueLimits } from '#shared/contract/limits.ts';
import type { AnnotatedServices } from '#shared/kube/services.ts';
import type { InputKind, Kind, OutputKind } from '#shared/kube/types.ts';

import { encodeMessage } from './codec.ts';
import { type EventsHeader, type InputEntry, type LiveMessage, messageVersion, type OutputEntry, type PartProgress } from './messages.ts';
import { checkEntries, parseEventsMessage, type RefusedEntry } from './parse.ts';

/** Newest state of an object of an input kind, as a relay read it. */
export interface InputState {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** Undefined if the object does not exist as of `resourceVersion`. */
  readonly projection: string | undefined;
  /** Time when the relay read the object, by the relay's clock, ms since the epoch. */
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

/** The header of each events message (messages.ts, EventsHeader). */
export interface Speaker {
  readonly cluster: string;
  readonly session: string;
  readonly uid: string;
  /** resourceVersion of the session's first list of Services. */
  readonly firstListVersion: string;
  /** Time when the relay saw the cluster's history go back, by the relay's clock, ms since the epoch. The session began because of it. */
  readonly historyRewoundAtMs?: number;
}

/** Fields of every message about objects. */
interface Told {
  readonly asOf: string;
  /** Entries that are not applied. The stored records of their objects stay as they are. */
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

/** A page of a consistent list, or a part of a page. As of `asOf`, exactly its entries exist with keys from < key ≤ to. */
interface ListPart extends Speaker, Told {
  readonly type: 'list';
  readonly listId: string;
  readonly partNumber: number;
  readonly isLast: boolean;
  /** Set by sweep for its own list. Ingest trusts it only in sessions that sweep has registered. */
  readonly isConfirmed: boolean;
  /** Progress of an earlier run of ingest in a page of an output kind. */
  readonly progress: PartProgress | undefined;
  /** Number of the ingest run that the message is for. For an output kind only runs count that did not finish a step. */
  readonly run: number;
  readonly from: string;
  readonly to: string;
  /** Keys "namespace/name" of objects that exist without an entry: the relay cannot send them, or their entries are refused. */
  readonly omitted: ReadonlySet<string>;
}
export type InputListPart = ListPart & { readonly kind: InputKind; readonly entries: readonly InputState[] };
export type OutputListPart = ListPart & { readonly kind: OutputKind; readonly entries: readonly OutputState[] };

export type Heartbeat = Speaker & {
  readonly type: 'heartbeat';
  /** Newest resourceVersion that the relay has read, by kind. */
  readonly readUpTo: { readonly [K in Kind]?: string };
  /** Time by the relay's clock, ms since the epoch. */
  readonly sentAtMs: number;
  readonly kubernetesVersion: string | undefined;
  readonly annotated: AnnotatedServices | undefined;
};

export type Events = LiveInputs | LiveOutputs | InputListPart | OutputListPart | Heartbeat;

/** Throws UnreadableMessage with the error, the given value and the allowed values. */
export function readEvents(body: string, limits: QueueLimits = defaultLimits.queue): Events {
  const m = parseEventsMessage(body, limits);
  const speaker = speakerOf(m);
  if (m.type === 'heartbeat')
    return { ...speaker, type: m.type, readUpTo: m.high, sentAtMs: m.at, kubernetesVersion: m.kubernetes, annotated: m.annotated };
  const { kind, asOf } = m;
  const { accepted, refused } = checkEntries<InputEntry | OutputEntry>(kind, m.entries);
  const states =
    kind === 'Endpoints' || kind === 'EndpointSlice'
      ? { kind, refused, entries: (accepted as readonly OutputEntry[]).map(outputState) }
      : { kind, refused, entries: (accepted as readonly InputEntry[]).map(inputState) };
  if (m.type === 'live') return { ...speaker, type: m.type, asOf, ...states } as LiveInputs | LiveOutputs;
  const { listId, i: partNumber, from, to, progress, runs: run = 1 } = m;
  const omitted = new Set([...(m.omitted ?? []), ...refused.map(({ namespace, name }) => `${namespace}/${name}`)]);
  const part = {
    type: m.type,
    omitted,
    asOf,
    listId,
    partNumber,
    isLast: m.last === true,
    isConfirmed: m.confirmed === true,
    progress,
    run,
    from,
    to,
  };
  return { ...speaker, ...part, ...states } as InputListPart | OutputListPart;
}

/** Encodes the refused entries of a message as a separate message. An operator can redrive it after a fix without effect on other objects. */
export const encodeRefused = (events: Exclude<Events, Heartbeat>): string =>
  encodeLive(
    events,
    events.refused.map(({ entry }) => entry),
  );

/** Encodes the message that returns entries of an output kind for their second look. */
export const encodeSecondLook = (events: Omit<LiveOutputs, 'type' | 'refused'>): string => encodeLive(events, events.entries.map(outputEntry));

type Header = Pick<Exclude<Events, Heartbeat>, 'cluster' | 'session' | 'uid' | 'firstListVersion' | 'kind' | 'asOf'>;

const encodeLive = ({ cluster, session, uid, firstListVersion: base, kind, asOf }: Header, entries: readonly object[]): string =>
  encodeMessage({ v: messageVersion, cluster, session, uid, base, type: 'live', kind, asOf, entries } as LiveMessage);

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
