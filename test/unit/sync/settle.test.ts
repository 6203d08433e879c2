import { describe, expect, it } from 'vitest';
import { settleParts } from '#functions/sync/settle.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { SyncMessage } from '#shared/queue/messages.ts';
import { cleanPart, type PartState, type WorkPart } from '#shared/workqueue/rules/item.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { memoryClusterQueues } from '#test/support/queue-memory.ts';

const start = 1_000_000;
const fails: Outcome = { kind: 'failed', error: 'denied' };
const waits = (waitSeconds: number): Outcome => ({ kind: 'not-now', reason: 'circuit', waitSeconds });
const message = (seq: SyncMessage['seq'], gen = 1): SyncMessage => ({ v: 1, cluster: 'c', ns: 'ns', service: 'svc', gen, seq });

function hub() {
  const clock = { now: start };
  const queues = memoryClusterQueues(() => clock.now);
  const settle = (m: SyncMessage, states: { readonly [P in WorkPart]?: PartState }, outcomes: { readonly [P in WorkPart]?: Outcome }, captured = 1) =>
    settleParts(
      queues,
      m,
      { ep: cleanPart, sl: cleanPart, ...states },
      new Map(Object.entries(outcomes) as [WorkPart, Outcome][]),
      captured,
      clock.now,
    );
  const sent = () => {
    const waiting = queues.syncs.waiting().map((w) => ({ seconds: (w.visibleAt - clock.now) / 1000, message: decodeMessage(w.body) as SyncMessage }));
    queues.syncs.purge();
    return waiting;
  };
  return { clock, queues, settle, sent };
}

/** All tries of a part that never succeeds: how long each waits, and what is left at the end. */
async function giveUp(part: WorkPart) {
  const { clock, queues, settle, sent } = hub();
  const delays: number[] = [];
  let state = cleanPart;
  let next = message({ ep: 0, sl: 0 });
  for (let tries = 1; ; tries++) {
    const { parts, parked } = await settle(next, { [part]: state }, { [part]: fails });
    state = parts[part] as PartState;
    const [chain] = sent();
    if (!chain) return { tries, delays, state, parked, copies: queues.parked.waiting().map((m) => decodeMessage(m.body)) };
    const due = state.at - clock.now;
    delays.push(due / 1000);
    // Longer waits than SQS has are split.
    expect(chain.seconds).toBe(Math.min(900, due / 1000));
    expect(chain.message.notBefore).toBe(due > 900_000 ? state.at : undefined);
    clock.now = state.at;
    next = chain.message;
  }
}

describe('a part that never succeeds', () => {
  it('a part of the endpoints controller that never succeeds is tried 16 times at its intervals, then parked', async () => {
    const { tries, delays, state, parked, copies } = await giveUp('ep');
    expect([tries, delays]).toEqual([16, [1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 6, 11, 21, 41, 82]]);
    expect(state).toEqual({ ...cleanPart, done: 1, seq: 15, rg: 1, at: expect.any(Number) });
    expect(parked).toEqual([{ part: 'ep', error: 'denied' }]);
    expect(copies).toEqual([{ cluster: 'c', ns: 'ns', service: 'svc', part: 'ep', gen: 1, error: 'denied', parkedAt: expect.any(Number) }]);
  });

  it('a part of the EndpointSlice controller that never succeeds waits longer and longer, above what SQS can delay', async () => {
    const { tries, delays } = await giveUp('sl');
    expect([tries, delays]).toEqual([16, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000, 1000, 1000]]);
  });

  it('a part that never succeeds does not hold back the other', async () => {
    const { settle, sent } = hub();
    const { parts } = await settle(message({ ep: 0, sl: 0 }, 4), { ep: { ...cleanPart, tries: 3, seq: 7 } }, { ep: fails, sl: ok }, 5);
    expect(parts.sl).toEqual({ ...cleanPart, done: 5 });
    expect(parts.ep).toMatchObject({ done: 0, tries: 4, seq: 8, rg: 5 });
    expect(sent().map((s) => s.message)).toEqual([expect.objectContaining({ gen: 5, seq: { ep: 8 }, hops: 1 })]);
  });
});

describe('a part that fails for another change while its retry waits', () => {
  const waiting = { ...cleanPart, tries: 4, seq: 4, rg: 1, at: start + 7_000 };

  it('a part that fails for another change while its retry waits is not tried later for it: the earlier time stands [Q-6]', async () => {
    const { settle, sent } = hub();
    const { parts } = await settle(message({ ep: 0, sl: 0 }, 2), { sl: waiting }, { sl: fails }, 2);
    expect(parts.sl).toEqual({ ...waiting, tries: 5, rg: 2 });
    expect(sent()).toEqual([]);
  });

  it('a part that fails for another change while its retry waits has no earlier time left where the change waited for its batch period, for then that was the earlier of the two', async () => {
    const { settle, sent } = hub();
    const { parts } = await settle({ ...message({ ep: 0, sl: 0 }, 2), batched: true }, { sl: waiting }, { sl: fails }, 2);
    expect(parts.sl).toEqual({ done: 0, tries: 5, seq: 5, rg: 2, at: start + 16_000 });
    expect(sent().map((s) => s.message)).toEqual([{ ...message({ sl: 5 }, 2), due: start + 16_000, hops: 1 }]);
  });

  it('a part that fails for another change while its retry waits is tried at its own time if that is earlier', async () => {
    const { settle, sent } = hub();
    const { parts } = await settle(message({ ep: 0, sl: 0 }, 2), { sl: { ...waiting, at: start + 17_000 } }, { sl: fails }, 2);
    expect(parts.sl).toEqual({ done: 0, tries: 5, seq: 5, rg: 2, at: start + 16_000 });
    expect(sent()).toHaveLength(1);
  });

  it('a part that fails for another change while its retry waits is not parked by it: what waits starts afresh [Q-13]', async () => {
    const { settle, sent, queues } = hub();
    const { parts, parked } = await settle(message({ ep: 0, sl: 0 }, 2), { sl: { ...waiting, tries: 15, at: start + 990_000 } }, { sl: fails }, 2);
    expect([parts.sl, parked]).toEqual([{ ...waiting, tries: 0, rg: 2, at: start + 990_000 }, []]);
    expect([sent(), queues.parked.waiting()]).toEqual([[], []]);
  });

  it('a part whose retry itself fails sends the next one', async () => {
    const { settle, sent } = hub();
    await settle(message({ sl: 4 }, 1), { sl: waiting }, { sl: fails });
    expect(sent()).toHaveLength(1);
  });
});

describe('a part that is put off', () => {
  it('costs no try', async () => {
    const { settle, sent } = hub();
    const { parts } = await settle(message({ ep: 0 }), { ep: { ...cleanPart, tries: 3 } }, { ep: waits(45) });
    expect(parts.ep).toMatchObject({ tries: 3, seq: 1, rg: 1, at: start + 45_000 });
    expect(sent()).toEqual([{ seconds: 45, message: expect.objectContaining({ seq: { ep: 1 } }) }]);
  });

  it('rests on the message that already waits, however many events come', async () => {
    const { settle, sent } = hub();
    const waiting = { ...cleanPart, seq: 4, rg: 2, at: start + 10_000 };
    const { parts } = await settle(message({ ep: 0, sl: 0 }, 3), { ep: waiting }, { ep: waits(45) }, 3);
    expect(parts.ep).toEqual({ ...waiting, rg: 3 });
    expect(sent()).toEqual([]);
  });

  it('sends anew where the message in hand is the one that waits', async () => {
    const { settle, sent } = hub();
    await settle(message({ ep: 4 }, 3), { ep: { ...cleanPart, seq: 4, rg: 3, at: start + 10_000 } }, { ep: waits(45) }, 3);
    expect(sent().map((s) => s.message.seq)).toEqual([{ ep: 5 }]);
  });
});

it('nothing is recorded of a retry that the queue did not accept', async () => {
  const { queues, settle } = hub();
  queues.syncs.send = async () => {
    throw new Error('refused');
  };
  await expect(settle(message({ ep: 0 }), {}, { ep: fails })).rejects.toThrow('refused');
});
