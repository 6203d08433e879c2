/**
 * Messages in the wake-up queue of a cluster, from their parser through the runs and the sweeps that follow.
 */
import fc from 'fast-check';
import { messageVersion } from '#shared/queue/messages.ts';
import { bodiesOf, type HostileBody, hostileBody } from '../bodies.ts';
import type { Door } from '../door.ts';
import { ensureServed, ensureUnharmed, startFleet, watchOthers } from '../fleet.ts';
import { hostileNumber, hostileText, mostly, someName } from '../hostile.ts';

const someNumber = mostly(fc.nat(), hostileNumber);
const message = fc.record(
  {
    cluster: fc.oneof(
      { weight: 5, arbitrary: fc.constant('a') },
      { weight: 1, arbitrary: fc.constantFrom('b', 'c', '__proto__') },
    ),
    namespace: mostly(fc.constantFrom('shop', 'shop', 'other'), someName),
    kind: mostly(fc.constantFrom('service', 'service', 'export', 'import'), hostileText),
    name: mostly(fc.constantFrom('web', 'web', 'x'), someName),
    generation: mostly(fc.oneof(fc.nat(20), fc.constant('latest')), hostileNumber),
    retryNumbers: fc.oneof(
      fc.record(
        { endpoints: mostly(fc.nat(3), hostileNumber), slices: mostly(fc.nat(3), hostileNumber) },
        { requiredKeys: [] },
      ),
      fc.record({ export: mostly(fc.nat(3), hostileNumber) }),
      fc.record({ import: mostly(fc.nat(3), hostileNumber) }),
    ),
    notBeforeMs: mostly(fc.oneof(someNumber, fc.constant(Date.parse('2026-01-02T00:05:00Z'))), hostileText),
    delayedByBatch: mostly(fc.constant(true), hostileText),
    requeues: mostly(fc.nat(5), hostileText),
    latencyFromMs: mostly(someNumber, hostileText),
    dueMs: mostly(someNumber, hostileText),
  },
  { requiredKeys: ['cluster', 'namespace', 'kind', 'name', 'generation', 'retryNumbers'] },
);
export const wakeUps: Door<readonly HostileBody[]> = {
  name: 'wake-ups',
  cases: 15,
  values: fc.array(hostileBody(message), { minLength: 1, maxLength: 8 }),
  async check(value) {
    const world = await startFleet();
    const ensureOthers = watchOthers(world);
    const bodies = bodiesOf(value, { v: messageVersion });
    await world.of('a').queues.syncs.send(bodies.map((body) => ({ body })));
    await world.pass(1);
    ensureOthers();
    await ensureUnharmed(world);
    ensureServed(world, 'a');
    ensureServed(world, 'c');
  },
};
