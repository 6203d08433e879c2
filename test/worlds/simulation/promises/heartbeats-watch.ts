/** A heartbeat is applied within 30 s of its arrival, also while workers wait for an API server that is silent. */
import { metaKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import type { Scheduler } from '#test/worlds/simulation/world/scheduler.ts';

const lateMs = 30_000;

interface Parts {
  readonly table: Table;
  readonly cluster: string;
  readonly scheduler: Scheduler;
  /** Longest time that a message waits in the queue. */
  readonly delayMs: number;
  readonly isOver: () => boolean;
  readonly fail: (what: string) => void;
}

export class HeartbeatsWatch {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  sent(bodies: readonly string[]): void {
    const { scheduler, delayMs } = this.#parts;
    const sentAt = scheduler.now;
    if (bodies.some((body) => body.includes('"type":"heartbeat"')))
      scheduler.after(lateMs + delayMs, () => void this.#check(sentAt));
  }

  /** The record has the time at which the queue took the newest heartbeat. */
  async #check(sentAt: number): Promise<void> {
    const { table, cluster, isOver, fail } = this.#parts;
    const appliedAt = (await table.get(metaKey(cluster)))?.['heartbeatAt'] ?? 0;
    if (!isOver() && Number(appliedAt) < sentAt)
      fail(`a heartbeat of ${new Date(sentAt).toISOString()} is not applied ${lateMs} ms after it`);
  }
}
