/** Messages of the events queues. */
import type { EndpointDelayReport, RemovalDelay } from '#shared/contract/endpoint-delay.ts';
import type { AnnotatedServices } from '#shared/kube/services.ts';
import type { InputKind, Kind, OutputKind } from '#shared/kube/types.ts';

/** Raise the version if a reader of the former version could not understand a message (CONTRIBUTING.md, Recipes). */
export const messageVersion = 1;

/**
 * The header of every events message. A relay begins a new session at each start, and when a list shows that
 * the history went back. resourceVersions are decimal text as the API server returned them.
 */
export interface EventsHeader {
  readonly v: number;
  readonly cluster: string;
  readonly session: string;
  /** UID of the cluster's kube-system namespace. */
  readonly uid: string;
  /**
   * resourceVersion of the session's first list of Services. It distinguishes a restored cluster from a late
   * message.
   */
  readonly firstListVersion: string;
  /**
   * The session began because the relay saw the cluster's history go back, at this time: ms since the epoch
   * by the relay's clock.
   */
  readonly historyRewoundAtMs?: number;
  /**
   * Number of the ingest run that the message is for, if one run did not suffice. For a page of an output
   * kind only runs count that did not finish a step. The relay never sets it.
   */
  readonly run?: number;
}

/**
 * Maximum size of a projection, bytes. DynamoDB's items must stay below 400 KB. Runs of other clusters read
 * many Nodes and Namespaces at once. A pod's record also contains its former label sets
 * (`maxUnnotifiedChars`). The API server does not limit labels as such, and one tenant's object must
 * not block the messages that it shares with others.
 */
export const maxProjectionSize: { readonly [K in InputKind]: number } = {
  Service: 256 * 1024,
  Pod: 64 * 1024,
  Node: 4 * 1024,
  Namespace: 4 * 1024,
  ServiceExport: 256 * 1024,
  ServiceImport: 256 * 1024,
};

/** An object of an input kind. */
export interface InputEntry {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /**
   * The projection of the object, as text (projection/projection.ts). Absent if the object does not exist as of
   * `resourceVersion`.
   */
  readonly projection?: string;
  /** What is said of a Pod that is not ready, as text (kube/projection/not-ready.ts). For answers alone. */
  readonly notReady?: string;
  /** Time when the relay saw the object, ms since the epoch by the relay's clock. */
  readonly observedAtMs?: number;
}

/** An object of an output kind: metadata only, except in shadow mode. */
export interface OutputEntry {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly uid: string;
  /** Absent for Endpoints (API-9). */
  readonly generation?: number;
  /**
   * The slice's service-name label ("" without the label), and its former value if the relay saw it change.
   * For Endpoints the name.
   */
  readonly service: string;
  readonly formerService?: string;
  /** The managed-by label of that kind. Absent without the label. */
  readonly managedBy?: string;
  /** A hub has written this state of an import's slice. */
  readonly isOwnWrite?: true;
  /** The object was deleted, as of `resourceVersion`. */
  readonly deleted?: true;
  /** Endpoints that hold a leader-election record (EP-70). */
  readonly leader?: true;
  /** Set if the entry returns for its second look (docs/develop/architecture.md, "Echo"). */
  readonly secondLook?: true;
  /** Field manager that wrote `object` last, and how late a slice shows the change of a pod, ms. */
  readonly manager?: string;
  readonly lateMs?: number;
  /** The whole object, from a relay with OUTPUTS=full (shadow mode). */
  readonly object?: object;
  readonly observedAtMs?: number;
}

export type Entry = InputEntry | OutputEntry;

export interface InputEntries {
  readonly kind: InputKind;
  readonly entries: readonly InputEntry[];
}
export interface OutputEntries {
  readonly kind: OutputKind;
  readonly entries: readonly OutputEntry[];
}

/**
 * State of these objects as of `asOf`, at least each entry's resourceVersion. Each entry is the newest state
 * that the relay had read by then.
 */
export type LiveMessage<Entries = InputEntries | OutputEntries> = EventsHeader &
  Entries & { readonly type: 'live'; readonly asOf: string };

/**
 * A page of a consistent list, or a part of a page. As of `asOf`, exactly these objects and the omitted ones
 * exist with from < key ≤ to. Keys are "namespace/name" ("/name" for nodes) as bytes. An empty `from` or `to`
 * is an open end.
 */
export type ListPartMessage<Entries = InputEntries | OutputEntries> = EventsHeader &
  Entries & {
    readonly type: 'list';
    readonly asOf: string;
    readonly listId: string;
    /** From 0. */
    readonly partNumber: number;
    readonly isLast?: true;
    /**
     * Progress in a page of an output kind that took more than one run of ingest. The relay never sets it.
     */
    readonly progress?: PartProgress;
    readonly from: string;
    readonly to: string;
    /** Keys of objects that exist and cannot be sent. */
    readonly omitted?: readonly string[];
  };

export interface PartProgress {
  /** Number of applied entries. */
  readonly entries: number;
  /** The last service, "namespace/name", whose outputs have been compared with the page. */
  readonly services?: string;
}

export type HeartbeatMessage = EventsHeader & {
  readonly type: 'heartbeat';
  /** Newest resourceVersion that the relay has read, by kind. */
  readonly readUpTo: { readonly [K in Kind]?: string };
  /** Time by the relay's clock, ms since the epoch. */
  readonly sentAtMs: number;
  /** The API server's version; absent until the relay has read it. */
  readonly kubernetesVersion?: string;
  /** Absent until the relay has listed the Services and slices, and while it lists them again. */
  readonly annotated?: AnnotatedServices;
  /** Absent if no slice showed a change of a pod since the last heartbeat. */
  readonly endpointDelays?: EndpointDelayReport;
  /** Absent until the relay has seen enough of them. */
  readonly removals?: RemovalDelay;
};

export type EventsMessage = LiveMessage | ListPartMessage | HeartbeatMessage;
