/**
 * The port by which the relay reads a cluster: identity, pages of lists, watches. Its driver is
 * watch-source-http.ts.
 */
import type { Kind, ObjectOfKind } from '#shared/kube/types.ts';

export type KubeObject = ObjectOfKind[Kind];

export interface ListPage {
  /** The same on every page of one list. */
  readonly resourceVersion: string;
  readonly items: readonly KubeObject[];
  /** Token of the next page; absent on the last. */
  readonly continue?: string;
  /** Bytes as received over the wire. Left out by sources in memory. */
  readonly bytes?: number;
}

export interface PageRequest {
  /**
   * Number of objects. It may differ between the pages of one list: a token holds the position, not the page
   * size.
   */
  readonly limit: number;
  readonly continue?: string | undefined;
  /** A page of more bytes is broken off: the call rejects with an error of which `isTooLarge` is true. */
  readonly maxBytes?: number;
}

export interface ObjectEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

export type WatchEvent = ObjectEvent | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/**
 * The cluster's API as the relay uses it. Every call rejects with a ClusterApiError, or with MalformedAnswer.
 * Each object has a name.
 */
export interface WatchSource {
  /** UID of the kube-system namespace. */
  identity(signal: AbortSignal): Promise<string>;
  /** The API server's version of Kubernetes, such as v1.37.2 or v1.33.5-eks-113cf36. */
  version(signal: AbortSignal): Promise<string>;
  /** One page of a consistent list. Status 410: the token has expired. */
  list(kind: Kind, page: PageRequest, signal: AbortSignal): Promise<ListPage>;
  /**
   * Events after that version, pulled: events that are not yet consumed stay with the server. Ends when the
   * server ends the stream in good order; an ERROR event is thrown as the error of its Status. A silent
   * connection is an error too.
   */
  watch(kind: Kind, resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent>;
}

/** The server's answer is not JSON, or JSON of another shape. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer';
}
