/**
 * The burst of a set: a source falls silent, and sweep wakes each importer of each of its exports. Calls take
 * virtual time.
 */
import { wakeImporters } from '#functions/clusterset/sweep/wake-importers.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { sweepDeps } from '#test/support/stage-deps.ts';

/** Time of a call of table or queue, ms. */
const callMs = 5;

export interface SilentSource {
  readonly exports: number;
  readonly importers: number;
}

/** Resolves to the calls of table and queue, and to the seconds that they take. */
export async function wakeAfterSilence({
  exports,
  importers,
}: SilentSource): Promise<{ readonly seconds: number; readonly calls: number }> {
  const table = memoryTable();
  for (let i = 0; i < importers; i++) {
    await registerCluster(table, { id: `importer-${i}`, mode: 'shadow' }, 0);
    await saveMembership(table, `importer-${i}`, { ...noMembership, imports: 'active' });
  }
  const clock = new CallClock();
  const { get, query, update } = table;
  const timed = {
    ...table,
    get: (...call: Parameters<typeof get>) => clock.timed(() => get(...call)),
    query: (...call: Parameters<typeof query>) => clock.timed(() => query(...call)),
    update: (...call: Parameters<typeof update>) => clock.timed(() => update(...call)),
  };
  const queues = memoryClusterQueues(() => 0);
  const syncs = {
    ...queues.syncs,
    send: (...call: Parameters<typeof queues.syncs.send>) => clock.timed(() => queues.syncs.send(...call)),
  };
  const deps = sweepDeps({ table: timed, queues: () => ({ ...queues, syncs }), now: () => clock.nowMs });
  const names = Array.from({ length: exports }, (_, i) => ({
    set: 'default',
    namespace: 'shop',
    name: `web-${i}`,
  }));
  await clock.until(wakeImporters(deps, names));
  return { seconds: clock.nowMs / 1000, calls: clock.calls };
}

/** Calls that begin while another one is under way overlap with it. */
class CallClock {
  nowMs = 0;
  calls = 0;
  #underWay: { readonly endMs: number; readonly end: () => void }[] = [];

  timed<T>(call: () => Promise<T>): Promise<T> {
    this.calls++;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#underWay.push({ endMs: this.nowMs + callMs, end: resolve });
    return promise.then(call);
  }

  async until(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    void work.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      const [next] = this.#underWay;
      if (!next) continue;
      this.nowMs = next.endMs;
      const ended = this.#underWay.filter(({ endMs }) => endMs <= this.nowMs);
      this.#underWay = this.#underWay.filter(({ endMs }) => endMs > this.nowMs);
      for (const { end } of ended) end();
    }
    await work;
  }
}
