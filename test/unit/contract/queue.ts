/** The contract of every driver of the queue port, from the receiver's view. */
import { describe, expect, it } from 'vitest';
import type { SourceQueue } from '#shared/queue/port.ts';

interface ReceivedMessage {
  readonly body: string;
  readonly receiptHandle: string;
  readonly receiveCount: number;
  /** ms since the epoch. */
  readonly sentAtMs: number;
}

interface DeadLetter {
  readonly body: string;
  readonly sentAtMs: number;
  /** The queue that it was moved from. */
  readonly movedFrom: string | undefined;
}

export interface QueueUnderTest {
  /** An empty queue: visibility 2 s, redrive after 2 receives. */
  readonly queue: SourceQueue;
  /** As the driver names it. */
  readonly name: string;
  receive(max: number): Promise<readonly ReceivedMessage[]>;
  delete(receiptHandle: string): Promise<void>;
  receiveDead(): Promise<readonly DeadLetter[]>;
  /** Sends to the dead-letter queue itself. */
  sendDead(body: string): Promise<unknown>;
  /** Lets so much time pass. */
  elapse(ms: number): Promise<unknown>;
}

export function queueContract(driver: string, make: () => Promise<QueueUnderTest>): void {
  // Each test has a queue of its own, so tests that wait for seconds run concurrently.
  describe(`queue on ${driver}`, () => {
    it('accepts any number of messages in one call', async () => {
      const q = await make();
      await q.queue.send([]);
      const bodies = Array.from({ length: 47 }, (_, i) => `message ${i}`);
      await q.queue.send(bodies.map((body) => ({ body })));
      expect((await drain(q)).sort()).toEqual(bodies.sort());
    });

    it('refuses a message that is too large or empty and a delay that SQS does not take, and sends none of the others', async () => {
      const q = await make();
      for (const bad of [
        { body: 'ü'.repeat(600_000) },
        { body: '' },
        ...[901, -1, 1.5].map((delaySeconds) => ({ body: 'x', delaySeconds })),
      ]) {
        await expect(q.queue.send([{ body: 'good' }, bad])).rejects.toThrow(RangeError);
      }
      expect(await drain(q)).toEqual([]);
    });

    it.concurrent('delivers a delayed message after its delay and not before', async () => {
      const q = await make();
      await q.queue.send([
        { body: 'later', delaySeconds: 2 },
        { body: 'now', delaySeconds: 0 },
      ]);
      expect(await drain(q)).toEqual(['now']);
      await q.elapse(2_050);
      expect(await drain(q)).toEqual(['later']);
    });

    it.concurrent('a message that failed comes back after the seconds asked for, before its visibility timeout ends, with a higher count', async () => {
      const q = await make();
      await q.queue.send(Array.from({ length: 12 }, (_, i) => ({ body: `failed ${i}` })));
      const first = [...(await q.receive(10)), ...(await q.receive(10))];
      expect(first).toHaveLength(12);
      expect(await q.receive(10)).toEqual([]);
      await q.queue.comeBack(first.map(({ receiptHandle }) => ({ receiptHandle, seconds: 1 })));
      expect(await q.receive(10)).toEqual([]);
      await q.elapse(1_050);
      const again = [...(await q.receive(10)), ...(await q.receive(10))];
      expect(again.map((m) => [m.body, m.receiveCount]).sort()).toEqual(first.map((m) => [m.body, 2]).sort());
    });

    it('a message that was deleted does not come back, and keeps no other from it', async () => {
      const q = await make();
      await q.queue.comeBack([]);
      await q.queue.send([{ body: 'done' }, { body: 'failed' }]);
      const both = await q.receive(10);
      for (const m of both) if (m.body === 'done') await q.delete(m.receiptHandle);
      await q.queue.comeBack(both.map(({ receiptHandle }) => ({ receiptHandle, seconds: 0 })));
      await q.elapse(50);
      expect((await q.receive(10)).map((m) => m.body)).toEqual(['failed']);
    });

    it.concurrent('a message that is not deleted comes back with a higher count, then goes to the dead letters', async () => {
      const q = await make();
      await q.queue.send([{ body: 'poison' }]);
      expect(await q.receive(10)).toMatchObject([{ body: 'poison', receiveCount: 1 }]);
      expect(await q.receive(10)).toEqual([]);
      await q.elapse(2_050);
      expect(await q.receive(10)).toMatchObject([{ body: 'poison', receiveCount: 2 }]);
      await q.elapse(2_050);
      expect(await q.receive(10)).toEqual([]);
      expect((await q.receiveDead()).map(({ body }) => body)).toEqual(['poison']);
    });

    it.concurrent('a message keeps the time at which it was sent, through its delay and however often it comes back', async () => {
      const q = await make();
      await q.queue.send([{ body: 'at once' }, { body: 'delayed', delaySeconds: 2 }]);
      const [first] = await q.receive(10);
      await q.elapse(2_050);
      const { 'at once': again, delayed } = Object.fromEntries(
        (await q.receive(10)).map(({ body, ...message }) => [body, message]),
      );
      expect(again).toMatchObject({ receiveCount: 2, sentAtMs: first?.sentAtMs });
      expect(Math.abs((delayed?.sentAtMs ?? 0) - (first?.sentAtMs ?? 0))).toBeLessThan(1_000);
    });
  });
}

/**
 * What SQS says of a message in a dead-letter queue (DeadLetterQueueSourceArn, SentTimestamp). ElasticMQ does
 * not name the source.
 */
export function deadLetterContract(driver: string, make: () => Promise<QueueUnderTest>): void {
  describe(`dead letters on ${driver}`, () => {
    it.concurrent('a dead letter names the queue that it was moved from and keeps its time; a message that was sent there names none', async () => {
      const q = await make();
      await q.queue.send([{ body: 'poison' }]);
      const [first] = await q.receive(10);
      for (const left of [1, 0]) {
        await q.elapse(2_050);
        expect(await q.receive(10)).toHaveLength(left);
      }
      await q.sendDead('forged');
      const dead = Object.fromEntries((await q.receiveDead()).map(({ body, ...message }) => [body, message]));
      expect(dead).toMatchObject({
        poison: { movedFrom: q.name, sentAtMs: first?.sentAtMs },
        forged: { movedFrom: undefined },
      });
    });
  });
}

/**
 * The size limits of SQS since 2025: 1 MiB a message and a call. A server with the former limit of 256 KiB
 * must run without limits.
 */
export function largeMessagesContract(driver: string, make: () => Promise<QueueUnderTest>): void {
  describe(`large messages on ${driver}`, () => {
    it('accepts messages that are together larger than one call may be, counted in bytes', async () => {
      const bodies = Array.from({ length: 12 }, (_, i) => `${i}${'ü'.repeat(100_000)}`);
      const q = await make();
      await q.queue.send(bodies.map((body) => ({ body })));
      expect((await drain(q)).map((b) => Number.parseInt(b, 10)).sort((a, b) => a - b)).toEqual(
        bodies.map((_, i) => i),
      );
    });

    it('accepts a message of exactly 1 MiB', async () => {
      const q = await make();
      await q.queue.send([{ body: 'x'.repeat(1024 * 1024) }]);
      expect((await drain(q)).map((b) => b.length)).toEqual([1024 * 1024]);
    });
  });
}

async function drain(q: QueueUnderTest): Promise<string[]> {
  const bodies: string[] = [];
  for (let got = await q.receive(10); got.length > 0; got = await q.receive(10)) {
    for (const { body, receiptHandle } of got) {
      bodies.push(body);
      await q.delete(receiptHandle);
    }
  }
  return bodies;
}
