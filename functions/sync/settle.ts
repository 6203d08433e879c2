/**
 * The one place where an outcome becomes the next state of the work: forgotten, tried again with back-off, put off, or parked. Messages are sent
 * first and recorded after (protocol.md 5): the other way round a crash in between loses the work.
 */
import { encodeMessage } from '#shared/queue/codec.ts';
import { messageVersion, type SyncMessage } from '#shared/queue/messages.ts';
import type { ClusterQueues, OutgoingMessage } from '#shared/queue/port.ts';
import { backoffSeconds } from '#shared/workqueue/backoff.ts';
import {
  absorbed,
  canAbsorb,
  deferred,
  failed,
  isExhausted,
  nextSeq,
  type PartState,
  parked,
  succeeded,
  type WorkPart,
} from '#shared/workqueue/item.ts';
import type { Outcome } from './outcome.ts';

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
  const chain: OutgoingMessage[] = [];
  for (const [part, outcome] of outcomes) {
    const state = states[part];
    const seq = nextSeq(state, message.seq[part]);
    const sendAgain = (waitSeconds: number): number => {
      chain.push(delayed({ ...message, v: messageVersion, gen: captured, seq: { [part]: seq }, hops: (message.hops ?? 0) + 1 }, waitSeconds, now));
      return now + waitSeconds * 1000;
    };
    switch (outcome.kind) {
      case 'ok':
        parts[part] = succeeded(state, captured);
        break;
      case 'failed':
        if (isExhausted(state)) {
          gaveUp.push({ part, error: outcome.error });
          parts[part] = parked(state, captured);
        } else parts[part] = failed(state, captured, seq, sendAgain(backoffSeconds(part, state.tries)));
        break;
      case 'not-now':
        parts[part] = canAbsorb(state, message.seq[part], now, outcome.waitSeconds * 1000)
          ? absorbed(state, captured)
          : deferred(state, captured, seq, sendAgain(outcome.waitSeconds));
        break;
    }
  }
  if (chain.length > 0) await queues.syncs.send(chain);
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
