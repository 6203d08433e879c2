/**
 * Nothing is under way when a batch has ended: Lambda then freezes the function, and a write would take
 * effect at its next invocation, without a lease.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { Table } from '#shared/store/table.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

/** Counts calls, each of which takes some turns of the event loop. One of them fails at once. */
class SlowCalls {
  underWay = 0;
  count = 0;
  /** Number of the call that fails. */
  refused = 0;

  of<T extends Table | ClusterApi>(port: T): T {
    const slow = Object.entries(port).map(([name, call]) => [
      name,
      (...args: unknown[]) => this.#call(() => call.apply(port, args)),
    ]);
    return Object.fromEntries(slow) as T;
  }

  async #call<R>(call: () => Promise<R>): Promise<R> {
    this.count++;
    if (this.count === this.refused) throw new Error('ThrottlingException');
    this.underWay++;
    try {
      for (let i = 0; i < 20; i++) await turn();
      return await call();
    } finally {
      this.underWay--;
    }
  }
}

it('no call is under way when a batch has ended, whichever of its calls is refused', async () => {
  const calls = new SlowCalls();
  const { world, pass } = await smallCluster([aService(), ...pods(20)], {
    settings: { maxEndpointsPerSlice: 5 },
    api: (inner) => calls.of(inner),
  });
  Object.assign(world.table, calls.of({ ...world.table }));
  await pass(20);
  const failed = (): number => world.metrics.get('MessagesFailed') ?? 0;
  // One change makes some 35 calls.
  for (let refused = 1; refused <= 40; refused++) {
    Object.assign(calls, { count: 0, refused });
    world.store.apply(
      aService({ ports: [{ name: 'http', port: 80, targetPort: 8_000 + refused, protocol: 'TCP' }] }),
    );
    world.store.apply(aPod(0, { ready: refused % 2 === 0 }));
    await pass(1);
    expect([refused, calls.underWay]).toEqual([refused, 0]);
    // The message comes back and is handled. Sweep runs in this time too.
    calls.refused = 0;
    await pass(11);
    expect(differences(world.store, 5)).toEqual([]);
  }
  expect(failed()).toBeGreaterThan(25);
});
