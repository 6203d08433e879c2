import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { PodChange } from '#shared/controllers/membership/pod-change.ts';
import type { InputKind } from '#shared/kube/types.ts';
import type { HeartbeatMessage, OutputEntry } from '#shared/queue/messages.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import type { ObjectRecord } from '#shared/store/inputs/objects.ts';
import { WakeUps } from '#shared/workqueue/add.ts';
import { type WakeUp, wakeUp } from '#shared/workqueue/rules/message.ts';
import type { IngestDeps } from './ingest-deps.ts';
import type { ObjectsAhead } from './prefetch-objects.ts';

/** State that the messages of one batch share. */
export interface BatchContext {
  readonly deps: IngestDeps;
  readonly cluster: ClusterRecord;
  readonly store: ClusterStore;
  readonly effects: BatchEffects;
  readonly ahead: ObjectsAhead;
  /**
   * Throws OutOfTime once the batch's time for writing is up, or `effects` is full. Call it before each
   * object, service and namespace of a message.
   */
  readonly checkTime: () => void;
  /** When the queue accepted the oldest message of the batch, ms since the epoch. */
  readonly sentAtMs: number;
  /** What else a batch does, besides the endpoints of the cluster's own services. */
  readonly parts: readonly IngestPart[];
}

export interface IngestPart {
  /** Called with a heartbeat of a relay that lives now. */
  readonly onHeartbeat: (context: MessageContext, message: HeartbeatMessage) => Promise<void>;
  /** Called with an EndpointSlice. Returns true for one that is no Service's of the cluster. */
  readonly onSlice: (context: MessageContext, seen: OutputEntry) => boolean;
  /**
   * Returns wake-ups that the batch's objects concern besides those of the cluster's own services. `woken`:
   * the services whose inputs have changed.
   */
  readonly onBatch: (batch: BatchContext, woken: readonly WakeUp[]) => Promise<readonly WakeUp[]>;
}

export interface MessageContext extends BatchContext {
  /** The incarnation that the message's versions belong to. */
  readonly incarnation: number;
}

/** A stored change whose services are still to be enqueued. */
export interface PendingNotification {
  readonly kind: InputKind;
  readonly record: ObjectRecord;
  /**
   * The Pod's change, if this batch saw the Pod before and after it. Otherwise `record.unnotifiedLabels` has
   * the Pod's former labels.
   */
  readonly podChange: PodChange | undefined;
  /** A Node that has the zone that it had, as far as this batch has seen it before and after. */
  readonly isZoneKept?: boolean;
  readonly observedAtMs: number | undefined;
}

const maxUnnotifiedCharsOfBatch = 32 << 20;

/**
 * Work that the first phase of a batch leaves to the later ones (event-batch.ts). It grows with each written
 * record, so it is complete for messages that fail half-way, too.
 */
export class BatchEffects {
  readonly #pending: PendingNotification[] = [];
  #unnotifiedChars = 0;
  /** Slices of imports that another client has changed, or that are gone, by their derived Services. */
  readonly importedSlices: { readonly namespace: string; readonly derived: string }[] = [];
  readonly #indexing = new Map<string, Promise<void>>();
  /**
   * Namespaces of the Pods that this batch has written, or that an earlier batch has written and maybe not
   * counted.
   */
  readonly podsWritten = new Set<string>();
  nodesWritten = false;
  readonly #wakeUps = new WakeUps();
  readonly #inputWakeUps = new WakeUps();

  get pending(): readonly PendingNotification[] {
    return this.#pending;
  }

  notify(pending: PendingNotification): void {
    this.#pending.push(pending);
    const { unnotifiedLabels } = pending.record;
    if (unnotifiedLabels) this.#unnotifiedChars += JSON.stringify(unnotifiedLabels).length;
  }

  /**
   * A page of a list can delete any number of Pods, whose labels are kept here until their services are
   * notified.
   */
  get isFull(): boolean {
    return this.#unnotifiedChars > maxUnnotifiedCharsOfBatch;
  }

  /** Call it before the write, whose answer may be lost. */
  recordWrite(kind: InputKind, namespace: string): void {
    // Any write of a Node makes a new set of nodes, whether services have to run for it or not.
    if (kind === 'Node') this.nodesWritten = true;
    if (kind === 'Pod') this.podsWritten.add(namespace);
  }

  /**
   * Objects of a namespace that the batch writes concurrently share one call, which puts the namespace into
   * the index.
   */
  indexOnce(namespace: string, index: () => Promise<void>): Promise<void> {
    const indexing = this.#indexing.get(namespace) ?? index().finally(() => this.#indexing.delete(namespace));
    this.#indexing.set(namespace, indexing);
    return indexing;
  }

  /** Enqueues the service. By default the run is due at once, and takes the saved outputs as they are. */
  wake(namespace: string, service: string, options: Partial<WakeUp> = {}): void {
    this.#wakeUps.add(wakeUp(namespace, service, options));
  }

  /** Enqueues the service for a change of its inputs, which its export has too. */
  wakeForInput(namespace: string, service: string, options: Partial<WakeUp> = {}): void {
    this.wake(namespace, service, options);
    this.#inputWakeUps.add(wakeUp(namespace, service, options));
  }

  get wakeUps(): readonly WakeUp[] {
    return this.#wakeUps.all;
  }

  /** The wake-ups by `wakeForInput`: a write of Endpoints or slices concerns no export. */
  get inputWakeUps(): readonly WakeUp[] {
    return this.#inputWakeUps.all;
  }
}
