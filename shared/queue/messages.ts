/** Events messages, with their fields in the queue. Ingest handles them under the names of events.ts. */
import type { AnnotatedServices } from '#shared/kube/services.ts';
import type { InputKind, Kind, OutputKind } from '#shared/kube/types.ts';

/** Raise the version if a reader of the former version could not understand a message (docs/upgrading.md). */
export const messageVersion = 1;

/**
 * The header of every events message. A relay begins a new session at each start, and when a list shows that the history went back. resourceVersions are
 * decimal text as the API server returned them.
 */
export interface EventsHeader {
  readonly v: number;
  readonly cluster: string;
  readonly session: string;
  /** UID of the cluster's kube-system namespace. */
  readonly uid: string;
  /** resourceVersion of the session's first list of Services. It distinguishes a restored cluster from a late message. */
  readonly base: string;
  /** The session began because the relay saw the cluster's history go back, at this time: ms since the epoch by the relay's clock. */
  readonly wentBackAt?: number;
  /** Number of the ingest run that the message is for, if one run did not suffice. The relay never sets it. */
  readonly runs?: number;
  /** Number of times that the message was requeued because its session is not bound yet. The relay never sets it. */
  readonly waits?: number;
}

/** Maximum length of a projection that ingest accepts, characters. */
export const maxProjectionLength = 256 * 1024;
/** The same for kinds with shorter projections, of which other clusters' runs read many at once. */
export const maxProjectionLengthOf: { readonly [K in InputKind]?: number } = { Pod: 64 * 1024, Node: 4 * 1024, Namespace: 4 * 1024 };

/** An object of an input kind. Without `o` the object does not exist as of `rv`. */
export interface InputEntry {
  readonly ns: string;
  readonly name: string;
  readonly rv: string;
  /** The projection of the object, as text (kube/projection.ts). */
  readonly o?: string;
  /** Time when the relay saw the object, ms since the epoch by the relay's clock. */
  readonly seen?: number;
}

/** An object of an output kind: metadata only, except in shadow mode. For Endpoints `svc` is the name. */
export interface OutputEntry {
  readonly ns: string;
  readonly name: string;
  readonly rv: string;
  readonly uid: string;
  /** metadata.generation; absent for Endpoints (API-9). */
  readonly gen?: number;
  /** The slice's service-name label ("" without the label), and its former value if the relay saw it change. */
  readonly svc: string;
  readonly oldSvc?: string;
  /** The managed-by label of that kind. Absent without the label. */
  readonly by?: string;
  /** A hub has written this state of an import's slice. */
  readonly own?: true;
  /** The object was deleted, as of `rv`. */
  readonly gone?: true;
  /** Endpoints that hold a leader-election record (EP-70). */
  readonly leader?: true;
  /** Set if the entry returns for its second look (docs/architecture.md, "Echo"). */
  readonly again?: true;
  /** The whole object, from a relay with OUTPUTS=full (shadow mode). */
  readonly body?: object;
  readonly seen?: number;
}

export type Entry = InputEntry | OutputEntry;

/** State of these objects as of `asOf`, which is at least each entry's rv. Each entry is the newest state that the relay had read by then. */
export type LiveMessage = EventsHeader & { readonly type: 'live'; readonly asOf: string } & (
    | { readonly kind: InputKind; readonly entries: readonly InputEntry[] }
    | { readonly kind: OutputKind; readonly entries: readonly OutputEntry[] }
  );

/**
 * A page of a consistent list. As of `asOf`, exactly these objects and the omitted ones exist with from < key ≤ to. Keys are "namespace/name" ("/name" for nodes) as
 * bytes. An empty `from` or `to` is an open end.
 */
export type ListPartMessage = EventsHeader & {
  readonly type: 'list';
  readonly asOf: string;
  readonly listId: string;
  /** Number of this part, from 0. */
  readonly i: number;
  readonly last?: true;
  /** Set by sweep, whose own list of the cluster confirmed a list that deletes much. Ingest trusts it only in sessions that sweep has registered. */
  readonly confirmed?: true;
  /** Progress in a page of an output kind that took more than one run of ingest. The relay never sets it. */
  readonly progress?: PartProgress;
  readonly from: string;
  readonly to: string;
  /** Keys of objects that exist and cannot be sent. */
  readonly omitted?: readonly string[];
} & ({ readonly kind: InputKind; readonly entries: readonly InputEntry[] } | { readonly kind: OutputKind; readonly entries: readonly OutputEntry[] });

export interface PartProgress {
  /** Number of applied entries. */
  readonly entries: number;
  /** The last service, "namespace/name", whose outputs have been compared with the page. */
  readonly services?: string;
}

export type HeartbeatMessage = EventsHeader & {
  readonly type: 'heartbeat';
  /** Newest resourceVersion read, by kind. */
  readonly high: { readonly [K in Kind]?: string };
  /** Time by the relay's clock, ms since the epoch. */
  readonly at: number;
  /** The API server's version; absent until the relay has read it. */
  readonly kubernetes?: string;
  /** Absent until the relay has listed the Services. */
  readonly annotated?: AnnotatedServices;
};

export type EventsMessage = LiveMessage | ListPartMessage | HeartbeatMessage;
