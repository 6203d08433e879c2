/**
 * The one place where an outcome becomes the next state of the work: forgotten, tried again with back-off, put off, or parked. Messages are sent
 * first and recorded after (docs/architecture.md, "Retry"): the other way round a crash in between loses the work.
 */
import { encodeMessage } from '#shared/queue/codec.ts';
import { messageVersion, type SyncMessage } from '#shared/queue/messages.ts';
import type { ClusterQueues, OutgoingMessage } from '#shared/queue/port.ts';
import { backoffSeconds } from '#shared/workqueue/rules/backoff.ts';
import {
  absorbed,
  canAbsorb,
  deferred,
  failed,
  forgotten,
  isExhausted,
  nextSeq,
  type PartState,
  parked,
  succeeded,
  type WorkPart,
} from '#shared/workqueue/rules/item.ts';
import type { Outcome } from '#shared/workqueue/rules/outcome.ts';

/** SQS delays a message by no more than this. */
const longestDelaySeconds = 900;

export interface Settled {
  readonly parts: { readonly [P in WorkPart]?: PartState };
  readonly parked: readonly { readonly part: WorkPart; readonly error: string }[];
}

export async function settleParts(
  queues: ClusterQueues,
  message: SyncMessage,
  states: { readonly [P in WorkPart]: PartState },
  outcomes: ReadonlyMap<WorkPart, Outcome>,
  captured: number,
  now: number,
): Promise<Settled> {
  const parts: { [P in WorkPart]?: PartState } = {};
  const gaveUp: { part: WorkPart; error: string }[] = [];
  /** By their wait: parts that wait for the same go in one message. */
  const chain = new Map<number, { [P in WorkPart]?: number }>();
  // Parts that are put off together stay together.
  const putOffSeconds = Math.max(0, ...[...outcomes.values()].map((o) => (o.kind === 'not-now' ? o.waitSeconds : 0)));
  for (const [part, outcome] of outcomes) {
    const state = states[part];
    const seq = nextSeq(state, message.seq[part]);
    const canRest = (longestSeconds: number): boolean => canAbsorb(state, message.seq[part], now, longestSeconds * 1000);
    const sendAgain = (waitSeconds: number): PartState => {
      chain.set(waitSeconds, { ...chain.get(waitSeconds), [part]: seq });
      return deferred(state, captured, seq, now + waitSeconds * 1000);
    };
    switch (outcome.kind) {
      case 'ok':
        parts[part] = succeeded(state, captured);
        break;
      case 'failed': {
        // Upstream's queue keeps the earlier of two times for a key, also when it forgets the key's count. But what has waited itself
        // was the earlier one: the retry has come with it.
        const waitSeconds = isExhausted(state) ? Number.POSITIVE_INFINITY : backoffSeconds(part, state.tries);
        const rests = message.batched !== true && canRest(waitSeconds);
        if (!isExhausted(state)) parts[part] = failed(rests ? absorbed(state, captured) : sendAgain(waitSeconds));
        else if (rests) parts[part] = forgotten(absorbed(state, captured));
        else {
          gaveUp.push({ part, error: outcome.error });
          parts[part] = parked(state, captured);
        }
        break;
      }
      case 'not-now':
        parts[part] = canRest(Math.max(putOffSeconds, outcome.longestSeconds ?? 0)) ? absorbed(state, captured) : sendAgain(putOffSeconds);
        break;
    }
  }
  // What a retry waits for is not what anybody waits for us.
  const { batched: _, seen: __, ...rest } = message;
  const next = { ...rest, v: messageVersion, gen: captured, hops: (message.hops ?? 0) + 1 };
  if (chain.size > 0) await queues.syncs.send([...chain].map(([waitSeconds, seq]) => delayed({ ...next, seq }, waitSeconds, now)));
  if (gaveUp.length > 0) {
    await queues.parked.send(
      gaveUp.map(({ part, error }) => ({
        body: encodeMessage({ cluster: message.cluster, ns: message.ns, service: message.service, part, gen: captured, error, parkedAt: now }),
      })),
    );
  }
  return { parts, parked: gaveUp };
}

/** A message that is due after `waitSeconds`, in hops of at most 900 s. */
export function delayed(message: SyncMessage, waitSeconds: number, now: number): OutgoingMessage {
  const due = now + waitSeconds * 1000;
  const { notBefore: _, ...rest } = message;
  return {
    body: encodeMessage({ ...rest, due, ...(waitSeconds > longestDelaySeconds && { notBefore: due }) }),
    delaySeconds: Math.min(longestDelaySeconds, Math.ceil(waitSeconds)),
  };
}
