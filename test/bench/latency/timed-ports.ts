import type { ClusterApi } from '#shared/cluster-api/port.ts';
import type { MessageQueue, OutgoingMessage } from '#shared/queue/port.ts';
import type { Item, Key, Table } from '#shared/store/table.ts';
import type { Scheduler } from '#test/simulation/scheduler.ts';
import { type CallName, farAwayMs, sdkMs } from './distributions.ts';

/** One call that has been made: what it was, and from when to when it took, in virtual ms. */
export interface Call {
  readonly stage: string;
  readonly what: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface Timing {
  readonly scheduler: Scheduler;
  /** A time of this kind of call. */
  readonly draw: (name: CallName) => number;
  readonly onCall: (call: Call) => void;
}

/** Calls of one stage: each takes its time, and its effect is there just before it ends. */
export class TimedCalls {
  readonly #timing: Timing;
  readonly #stage: string;

  constructor(timing: Timing, stage: string) {
    this.#timing = timing;
    this.#stage = stage;
  }

  call<T>(name: CallName, what: string, effect: () => Promise<T>, moreMs = 0): Promise<T> {
    const { scheduler, draw, onCall } = this.#timing;
    const startMs = scheduler.now;
    return new Promise((resolve, reject) => {
      scheduler.after(draw(name) + moreMs, () => {
        onCall({ stage: this.#stage, what, startMs, endMs: scheduler.now });
        effect().then(resolve, reject);
      });
    });
  }

  /** Calls back in the same virtual moment, after all pending promises, so requests of one turn share a call. */
  soon(run: () => void): void {
    this.#timing.scheduler.after(0, run);
  }
}

export function timedTable(calls: TimedCalls, table: Table): Table {
  const name = ({ pk, sk }: Key): string => `${pk.replace(/^c#/, '')} ${sk}`;
  let asked: { readonly key: Key; readonly resolve: (item: Item | undefined) => void; readonly reject: (e: unknown) => void }[] = [];
  const flush = (): void => {
    const batch = asked;
    asked = [];
    const read = () => Promise.all(batch.map(({ key }) => table.get(key)));
    calls.call('tableRead', `get ${batch.map(({ key }) => name(key)).join(', ')}`, read, sdkMs).then(
      (items) => {
        for (const [i, { resolve }] of batch.entries()) resolve(items[i]);
      },
      (e: unknown) => {
        for (const { reject } of batch) reject(e);
      },
    );
  };
  return {
    // As the driver does it: BatchGetItem for what is asked in one turn.
    get: (key) =>
      new Promise((resolve, reject) => {
        if (asked.length === 0) calls.soon(flush);
        asked.push({ key, resolve, reject });
      }),
    query: (pk, range) => calls.call('tableRead', `query ${pk.replace(/^c#/, '')}`, () => table.query(pk, range), sdkMs),
    put: (item, condition) => calls.call('tableWrite', `put ${name(item)}`, () => table.put(item, condition), sdkMs),
    update: (key, change, condition) => calls.call('tableWrite', `update ${name(key)}`, () => table.update(key, change, condition), sdkMs),
    delete: (key, condition) => calls.call('tableWrite', `delete ${name(key)}`, () => table.delete(key, condition), sdkMs),
    queryDirty: (partition, until, limit) => calls.call('tableRead', 'query dirty', () => table.queryDirty(partition, until, limit), sdkMs),
    scanKeys: (after) => calls.call('tableRead', 'scan', () => table.scanKeys(after), sdkMs),
  };
}

/** `deliver`: the queue has it; the handler sees it when the rest of the way is over. */
export function timedQueue(calls: TimedCalls, deliver: (message: OutgoingMessage, sentAtMs: number) => void, now: () => number): MessageQueue {
  return {
    send(messages) {
      const sentAtMs = now();
      return calls.call(
        'queueSend',
        `send ${messages.length === 1 ? 'a message' : `${messages.length} messages`}`,
        async () => {
          for (const message of messages) deliver(message, sentAtMs);
        },
        sdkMs,
      );
    },
  };
}

export function timedApi(calls: TimedCalls, api: ClusterApi, isFarAway: boolean): ClusterApi {
  const more = isFarAway ? farAwayMs : 0;
  const read = <T>(what: string, effect: () => Promise<T>): Promise<T> => calls.call('apiRead', what, effect, more);
  const write = <T>(what: string, effect: () => Promise<T>): Promise<T> => calls.call('apiWrite', what, effect, more);
  return {
    get: (kind, ns, name) => read(`GET ${kind}`, () => api.get(kind, ns, name)),
    list: (kind, ns, query) => read(`LIST ${kind}`, () => api.list(kind, ns, query)),
    create: (kind, o) => write(`POST ${kind}`, () => api.create(kind, o)),
    dryRunCreate: (kind, o) => read(`POST ${kind} dryRun`, () => api.dryRunCreate(kind, o)),
    replace: (kind, o) => write(`PUT ${kind}`, () => api.replace(kind, o)),
    patch: (kind, ns, name, patch) => write(`PATCH ${kind}`, () => api.patch(kind, ns, name, patch)),
    patchStatus: (kind, ns, name, status) => write(`PATCH ${kind}/status`, () => api.patchStatus(kind, ns, name, status)),
    delete: (kind, ns, name, preconditions) => write(`DELETE ${kind}`, () => api.delete(kind, ns, name, preconditions)),
    identity: () => read('GET Namespace kube-system', () => api.identity()),
    allows: (right) => read('POST SelfSubjectAccessReview', () => api.allows(right)),
  };
}
