/** Dependencies of a reflector, the list and watch of one kind. Its session provides them. */
import type { Kind } from '#shared/kube/types.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { SentIndex } from '../projection/sent-index.ts';
import type { Mutex } from '../runtime/mutex.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { IdentityCheck } from '../source/identity-check.ts';
import type { WatchSource } from '../source/watch-source.ts';

export interface ReflectorDeps extends Runtime {
  readonly source: WatchSource;
  readonly outbox: Outbox;
  readonly sentIndex: SentIndex;
  /** One list at a time in the whole relay: a page takes megabytes. */
  readonly listMutex: Mutex;
  readonly identityCheck: IdentityCheck;
  /**
   * The newest version of each kind that the API server has answered with, in a page or before a watch, also
   * to earlier sessions. An older answer later means that the history went back.
   */
  readonly answered: Map<Kind, string>;
  readonly newId: () => string;
}

export interface ReflectorOptions {
  /** resourceVersion of the session's first list of Services. */
  readonly firstListVersion: string;
  readonly resyncMs: number;
  /** The reflector rejects if the API server does not serve the kind. */
  readonly isOptional?: boolean;
}
