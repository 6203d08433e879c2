/** Everything that travels through the queues, as it stands there. Ingest handles events messages under the names of events.ts. */
import type { InputKind, Kind, OutputKind } from '#shared/kube/types.ts';

/** Raised when a reader of the former version could not understand a message (docs/upgrading.md). */
export const messageVersion = 1;

/**
 * What every events message carries. A session is one life of a relay's view of its cluster: a new one for each start and
 * whenever a list went back in time. resourceVersions are decimal text as the API server gave them.
 */
export interface EventsHeader {
  readonly v: number;
  readonly cluster: string;
  readonly session: string;
  /** UID of the cluster's kube-system namespace. */
  readonly uid: string;
  /** resourceVersion of the session's first list of Services: tells a restored cluster from a late message. */
  readonly base: string;
  /** The session began because the relay saw the cluster's history go back, at this time: ms since the epoch by the relay's clock. */
  readonly wentBackAt?: number;
  /** The number of the run of ingest that the message is for, where one run did not suffice; the relay never sets it. */
  readonly runs?: number;
  /** How often it was put off because its session is not bound yet; the relay never sets it. */
  readonly waits?: number;
}

/** Characters of a projection that ingest takes, at most. */
export const maxProjectionLength = 256 * 1024;
/** The same for kinds whose projections are shorter, and of which other clusters' runs read many at once. */
export const maxProjectionLengthOf: { readonly [K in InputKind]?: number } = { Pod: 64 * 1024, Node: 4 * 1024, Namespace: 4 * 1024 };

/** One object of an input kind. Without `o` it does not exist (any more), as of `rv`. */
export interface InputEntry {
  readonly ns: string;
  readonly name: string;
  readonly rv: string;
  /** projection.ts's text. */
  readonly o?: string;
  /** When the relay saw it, ms since the epoch by the relay's clock. */
  readonly seen?: number;
}

/** One object of an output kind: metadata only, except in shadow mode. For Endpoints `svc` is the name. */
export interface OutputEntry {
  readonly ns: string;
  readonly name: string;
  readonly rv: string;
  readonly uid: string;
  /** metadata.generation; absent for Endpoints (API-9). */
  readonly gen?: number;
  /** The slice's service-name label ("" without one), and the former one where the relay saw it change. */
  readonly svc: string;
  readonly oldSvc?: string;
  /** The managed-by label of that kind; absent without one. */
  readonly by?: string;
  /** A hub has written this state of an import's slice. */
  readonly own?: true;
  /** The object was deleted, as of `rv`. */
  readonly gone?: true;
  /** Endpoints that hold a leader-election record (EP-70). */
  readonly leader?: true;
  /** Set when the entry comes back for its second look (docs/architecture.md, "Echo"). */
  readonly again?: true;
  /** The whole object, from a relay with OUTPUTS=full (shadow mode). */
  readonly body?: object;
  readonly seen?: number;
}

export type Entry = InputEntry | OutputEntry;

/** State of these objects as of `asOf`: at least each entry's rv, and each entry is the newest the relay had read by then. */
export type LiveMessage = EventsHeader & { readonly type: 'live'; readonly asOf: string } & (
    | { readonly kind: InputKind; readonly entries: readonly InputEntry[] }
    | { readonly kind: OutputKind; readonly entries: readonly OutputEntry[] }
  );

/**
 * A page of a consistent list: as of `asOf` exactly these objects of the kind exist with from < key ≤ to.
 * Keys are "namespace/name" ("/name" for nodes) as bytes; from "" and to "" are the ends.
 */
export type ListPartMessage = EventsHeader & {
  readonly type: 'list';
  readonly asOf: string;
  readonly listId: string;
  /** Number of this part, from 0. */
  readonly i: number;
  readonly last?: true;
  /** Made by sweep, whose own look at the cluster confirmed a list that takes much away. Believed of sessions alone that sweep has registered. */
  readonly confirmed?: true;
  /** Of a part of an output kind that took more than one run of ingest: how far it has got. The relay never sets it. */
  readonly progress?: PartProgress;
  readonly from: string;
  readonly to: string;
} & ({ readonly kind: InputKind; readonly entries: readonly InputEntry[] } | { readonly kind: OutputKind; readonly entries: readonly OutputEntry[] });

export interface PartProgress {
  /** So many of its entries have been applied. */
  readonly entries: number;
  /** Services up to this one, "namespace/name", have been compared with it. */
  readonly services?: string;
}

export type HeartbeatMessage = EventsHeader & {
  readonly type: 'heartbeat';
  /** Newest resourceVersion read, by kind. */
  readonly high: { readonly [K in Kind]?: string };
  /** Relay's clock, ms since the epoch, and objects waiting in its outbox. */
  readonly at: number;
  readonly waiting: number;
};

export type EventsMessage = LiveMessage | ListPartMessage | HeartbeatMessage;

/** A wake-up, as it stands in the queue (wake-up-message.ts). */
export interface SyncMessage {
  readonly v: number;
  readonly cluster: string;
  readonly ns: string;
  readonly service: string;
  readonly gen: number;
  /** By controller: 0 for new work, else the number of the retry. */
  readonly seq: { readonly ep?: number; readonly sl?: number };
  /** Waits of more than 900 s are split: not to be handled before this time, ms since the epoch. */
  readonly notBefore?: number;
  /** A fresh one that has waited for a batch period, as upstream's AddAfter does; not one that waits for the end of a lease. */
  readonly batched?: boolean;
  /** How often in a row the run was requeued. */
  readonly hops?: number;
  /** When the sync was due, for SyncLatency: the relay saw the change, by our clock, and its batch period is over. Retries have none. */
  readonly seen?: number;
  /** When the message was due, for QueueLatency. */
  readonly due?: number;
}
