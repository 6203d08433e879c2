import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { MessageQueue, OutgoingMessage } from '#shared/queue/port.ts';
import type { Item, Key, Table } from '#shared/store/table.ts';
import type { Scheduler } from '#test/worlds/simulation/world/scheduler.ts';
import { type CallName, farAwayMs, sdkMs } from './distributions.ts';

/** One call that has been made: what it was, and from when to when it took, in virtual ms. */
export interface Call {
  readonly stage: string;
  readonly what: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Size of what was sent and of the answer, as JSON. */
  readonly bytes: number;
  /** Units of the table. */
  readonly units: number;
}

export interface Timing {
  readonly scheduler: Scheduler;
  /** A time of this kind of call. */
  readonly draw: (name: CallName) => number;
  readonly onCall: (call: Call) => void;
  /** Units of the table so far. */
  readonly units: () => number;
}

/** Content of a call besides its name. */
interface Content {
  readonly sent?: unknown;
  /** Time beside the drawn one, ms. */
  readonly moreMs?: number;
}

/** Calls of one stage: each takes its time, and its effect is there just before it ends. */
export class TimedCalls {
  readonly #timing: Timing;
  readonly #stage: string;

  constructor(timing: Timing, stage: string) {
    this.#timing = timing;
    this.#stage = stage;
  }

  call<T>(
    name: CallName,
    what: string,
    effect: () => Promise<T>,
    { sent, moreMs = 0 }: Content = {},
  ): Promise<T> {
    const { scheduler, draw, onCall, units } = this.#timing;
    const startMs = scheduler.now;
    return new Promise((resolve, reject) => {
      scheduler.after(draw(name) + moreMs, () => {
        const endMs = scheduler.now;
        const before = units();
        // A call of the table takes effect when it is made.
        const answered = effect();
        const used = units() - before;
        const ended = (answer?: unknown): void =>
          onCall({
            stage: this.#stage,
            what,
            startMs,
            endMs,
            bytes: sizeOf(sent) + sizeOf(answer),
            units: used,
          });
        answered.then(ended, () => ended());
        answered.then(resolve, reject);
      });
    });
  }

  /**
   * Calls back in the same virtual moment, after all pending promises, so requests of one turn share a call.
   */
  soon(run: () => void): void {
    this.#timing.scheduler.after(0, run);
  }
}

const sizeOf = (value: unknown): number =>
  value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value, asOnTheWire));

const asOnTheWire = (_key: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;

export function timedTable(calls: TimedCalls, table: Table): Table {
  const name = ({ pk, sk }: Key): string => `${pk.replace(/^c#/, '')} ${sk}`;
  let asked: {
    readonly key: Key;
    readonly resolve: (item: Item | undefined) => void;
    readonly reject: (e: unknown) => void;
  }[] = [];
  const flush = (): void => {
    const batch = asked;
    asked = [];
    const read = () => Promise.all(batch.map(({ key }) => table.get(key)));
    calls
      .call('tableRead', `get ${batch.map(({ key }) => name(key)).join(', ')}`, read, { moreMs: sdkMs })
      .then(
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
    query: (pk, range) =>
      calls.call('tableRead', `query ${pk.replace(/^c#/, '')}`, () => table.query(pk, range), {
        moreMs: sdkMs,
      }),
    put: (item, condition) =>
      calls.call('tableWrite', `put ${name(item)}`, () => table.put(item, condition), {
        sent: item,
        moreMs: sdkMs,
      }),
    update: (key, change, condition) =>
      calls.call('tableWrite', `update ${name(key)}`, () => table.update(key, change, condition), {
        sent: change,
        moreMs: sdkMs,
      }),
    delete: (key, condition) =>
      calls.call('tableWrite', `delete ${name(key)}`, () => table.delete(key, condition), { moreMs: sdkMs }),
    queryDirty: (partition, until, limit) =>
      calls.call('tableRead', 'query dirty', () => table.queryDirty(partition, until, limit), {
        moreMs: sdkMs,
      }),
    scanKeys: (after) => calls.call('tableRead', 'scan', () => table.scanKeys(after), { moreMs: sdkMs }),
  };
}

/** `deliver`: the queue has it; the handler sees it when the rest of the way is over. */
export function timedQueue(
  calls: TimedCalls,
  deliver: (message: OutgoingMessage, sentAtMs: number) => void,
  now: () => number,
): MessageQueue {
  return {
    send(messages) {
      const sentAtMs = now();
      return calls.call(
        'queueSend',
        `send ${messages.length === 1 ? 'a message' : `${messages.length} messages`}`,
        async () => {
          for (const message of messages) deliver(message, sentAtMs);
        },
        { sent: messages.map((m) => m.body), moreMs: sdkMs },
      );
    },
  };
}

export function timedApi(calls: TimedCalls, api: ClusterApi, isFarAway: boolean): ClusterApi {
  const moreMs = isFarAway ? farAwayMs : 0;
  const read = <T>(what: string, effect: () => Promise<T>): Promise<T> =>
    calls.call('apiRead', what, effect, { moreMs });
  const write = <T>(what: string, effect: () => Promise<T>, sent?: unknown): Promise<T> =>
    calls.call('apiWrite', what, effect, { sent, moreMs });
  return {
    get: (kind, ns, name) => read(`GET ${kind}`, () => api.get(kind, ns, name)),
    list: (kind, ns, query) => read(`LIST ${kind}`, () => api.list(kind, ns, query)),
    create: (kind, o) => write(`POST ${kind}`, () => api.create(kind, o), o),
    dryRunCreate: (kind, o) => read(`POST ${kind} dryRun`, () => api.dryRunCreate(kind, o)),
    replace: (kind, o) => write(`PUT ${kind}`, () => api.replace(kind, o), o),
    patch: (kind, ns, name, patch) => write(`PATCH ${kind}`, () => api.patch(kind, ns, name, patch)),
    patchStatus: (kind, ns, name, status) =>
      write(`PATCH ${kind}/status`, () => api.patchStatus(kind, ns, name, status)),
    delete: (kind, ns, name, preconditions) =>
      write(`DELETE ${kind}`, () => api.delete(kind, ns, name, preconditions)),
    identity: () => read('GET Namespace kube-system', () => api.identity()),
    allows: (right) => read('POST SelfSubjectAccessReview', () => api.allows(right)),
  };
}
