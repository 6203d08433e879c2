import type { Kind, ObjectOfKind } from '#shared/kube/types.ts';

export type KubeObject = ObjectOfKind[Kind];

export interface ListPage {
  /** The same on every page of one list. */
  readonly resourceVersion: string;
  readonly items: readonly KubeObject[];
  /** Token of the next page; absent on the last. */
  readonly continue?: string;
  /** As they came over the wire; absent where there is none. */
  readonly bytes?: number;
}

export interface PageRequest {
  /** Objects. It may differ from page to page of one list: a token says where to go on, not how far. */
  readonly limit: number;
  readonly continue?: string | undefined;
  readonly at?: string | undefined;
  /** A page of more bytes is broken off: the call rejects with an error of which `isTooLarge` is true. */
  readonly maxBytes?: number;
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/** What the relay sees of a cluster. Every call rejects with a ClusterApiError, or with MalformedAnswer. */
export interface WatchSource {
  /** UID of the kube-system namespace. */
  identity(signal: AbortSignal): Promise<string>;
  /** One page of a list: consistent, or of what was there at the version `at`. Status 410: the token has expired, or that version is no longer known. */
  list(kind: Kind, page: PageRequest, signal: AbortSignal): Promise<ListPage>;
  /**
   * Events after that version, pulled: what is not asked for stays with the server. Ends when the server ends it in good order;
   * an ERROR in the stream is thrown as the error that its Status stands for. A silent connection is an error too.
   */
  watch(kind: Kind, resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent>;
}

/** The server's words make no sense: not JSON, or JSON of another shape. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer';
}
