/**
 * The handling of a failed sync, and our records in place of upstream's work queues, stale checks and slice
 * tracker.
 */
import { describe, expect, it } from 'vitest';
import { deletedInput } from '#functions/relay/projection/entries.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { type EventsMessage, messageVersion } from '#shared/queue/messages.ts';
import { backoffSeconds, maxRetries } from '#shared/workqueue/rules/backoff.ts';
import { type PartState, partsToRun } from '#shared/workqueue/rules/item.ts';
import { nextState, recordSuccess } from '#shared/workqueue/rules/next-state.ts';
import { idlePart, noWork } from '#test/support/absent-records.ts';
import {
  aPod,
  aService,
  pods,
  type SmallCluster,
  smallCluster,
  startAt,
} from '#test/support/small-cluster.ts';

const invalid = new ClusterApiError('refused', { status: 422, reason: 'Invalid' });
const events = (world: { store: { list: (kind: 'Event') => readonly RawObject[] } }) =>
  world.store.list('Event').map((e) => (e as unknown as { reason: string }).reason);

describe('a key that keeps failing', () => {
  it.each([
    ['create EndpointSlice', [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000, 1000, 1000]],
    ['create Endpoints', [1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 6, 11, 21, 41, 82]],
  ] as const)(
    '%s runs 16 times with upstream’s waits in whole seconds, then is parked and reported [Q-16, Q-17, Q-18]',
    async (call, waits) => {
      const refused: number[] = [];
      const c = await smallCluster([aService(), ...pods(1)], {
        refuse: async (asked) => {
          if (asked !== call) return;
          refused.push(c?.world.now ?? 0);
          throw invalid;
        },
      });
      await c.pass(3 * 3600);
      expect(refused).toHaveLength(maxRetries + 1);
      for (const [i, wait] of waits.entries()) {
        const waited = ((refused[i + 1] ?? 0) - (refused[i] ?? 0)) / 1000;
        expect(waited).toBeGreaterThanOrEqual(wait);
        expect(waited).toBeLessThanOrEqual(wait + 2);
      }
      expect(events(c.world)).toContain('RetryBudgetExceeded');
      expect(c.world.queues.parked.receive(10)).toHaveLength(1);

      refused.length = 0;
      c.world.store.apply({ ...aService(), status: { loadBalancer: {} } } as RawObject);
      await c.pass(10);
      expect(refused.length).toBeGreaterThan(1);
    },
  );

  /**
   * Seconds after the start at which slices were asked for, when something changes while the fifth retry
   * waits for its 16 s.
   */
  async function triesWith(change: (store: SmallCluster['world']['store']) => void, batchPeriodSeconds = 0) {
    const tries: number[] = [];
    const c = await smallCluster([aService(), ...pods(1)], {
      settings: { batchPeriodSeconds },
      refuse: async (asked) => {
        if (asked !== 'create EndpointSlice') return;
        tries.push(Math.round(((c?.world.now ?? startAt) - startAt) / 1000));
        throw invalid;
      },
    });
    await c.pass(20);
    change(c.world.store);
    await c.pass(80);
    return tries;
  }

  it('a key that keeps failing is tried at the earlier time: a change at once does not put its retry off [Q-6, Q-8]', async () => {
    const relabelled = {
      ...aService(),
      metadata: { ...aService().metadata, labels: { a: 'b' } },
    } as RawObject;
    expect(await triesWith((store) => store.apply(relabelled))).toEqual([0, 1, 3, 7, 15, 20, 31, 95]);
  });

  it('a key that keeps failing is tried at the earlier time: a change after the batch period takes its retry along [Q-6]', async () => {
    expect(await triesWith((store) => store.apply(aPod(1)), 2)).toEqual([0, 1, 3, 7, 15, 22, 54]);
  });

  it('a key that keeps failing does not hold the other controller back', async () => {
    const c = await smallCluster([aService(), ...pods(1)], {
      refuse: async (asked) => {
        if (asked === 'create EndpointSlice') throw invalid;
      },
    });
    await c.pass(30);
    expect(c.world.store.list('Endpoints', 'default')).toHaveLength(1);
    expect(c.world.store.list('EndpointSlice', 'default')).toHaveLength(0);
    expect(events(c.world)).toContain('FailedToUpdateEndpointSlices');
  });
});

describe('a write that meets something newer', () => {
  it('a write that meets something newer is decided again from a live read at once, without an event [UT-27, UT-32, UT-67 TestSyncServiceStaleInformer] (unlike EP-65)', async () => {
    const c = await smallCluster([aService(), ...pods(2)]);
    await c.pass(10);
    for (const kind of ['Endpoints', 'EndpointSlice'] as const) {
      const [object] = c.world.store.list(kind, 'default');
      c.world.store.apply({
        ...object,
        metadata: { ...object?.metadata, labels: { ...object?.metadata.labels, theirs: 'x' } },
      } as RawObject);
    }
    c.world.store.apply(aPod(0, { ready: false }));
    await c.pass(0.5);
    const [endpoints] = c.world.store.list('Endpoints', 'default') as unknown as {
      subsets: { addresses: object[]; notReadyAddresses: object[] }[];
    }[];
    expect(endpoints?.subsets).toMatchObject([
      { addresses: [{ ip: '10.1.0.2' }], notReadyAddresses: [{ ip: '10.1.0.1' }] },
    ]);
    expect(c.world.metrics.get('SyncsConflict')).toBe(2);
    expect(events(c.world)).toEqual([]);
  });

  it.each(['Endpoints', 'EndpointSlice'] as const)(
    '%s whose create was accepted but not answered is not made twice [EP-54, UT-59]',
    async (kind) => {
      let lost = 1;
      const c = await smallCluster([aService(), ...pods(2)], {
        refuse: async (asked, run) => {
          if (asked !== `create ${kind}` || lost-- <= 0) return;
          await run();
          throw new ClusterApiError('socket hang up', { status: 0, reason: '' });
        },
      });
      await c.pass(1800);
      expect(c.world.store.list(kind, 'default')).toHaveLength(1);
      expect(events(c.world)).toEqual([]);
      expect(c.world.queues.parked.receive(10)).toEqual([]);
    },
  );
});

describe('the cluster out of reach', () => {
  it('costs no retry and no event, and nothing is lost when it is back (unlike Q-20)', async () => {
    let away = true;
    const c = await smallCluster([aService(), ...pods(2)], {
      refuse: async (asked) => {
        if (away && !asked.endsWith(' Event'))
          throw new ClusterApiError('connect ECONNREFUSED', { status: 0, reason: '' });
      },
    });
    await c.pass(3 * 3600);
    expect(c.world.metrics.get('Parked')).toBeUndefined();
    away = false;
    await c.pass(900);
    expect(c.world.store.list('Endpoints', 'default')).toHaveLength(1);
    expect(c.world.store.list('EndpointSlice', 'default')).toHaveLength(1);
    expect(events(c.world)).toEqual([]);
  });
});

describe('a write that would take away much', () => {
  it('a write that would take away much is compared with a live list of the pods first, and is not made while that knows better', async () => {
    const c = await smallCluster([aService(), ...pods(12)]);
    await c.pass(10);
    c.calls.length = 0;
    // This relay sends a false state.
    const asOf = String(c.world.store.resourceVersion);
    const uid = c.world.store.get('Namespace', '', 'kube-system').metadata.uid ?? '';
    const entries = pods(11).map((p) => deletedInput(p, asOf, c.world.now));
    const message: EventsMessage = {
      v: messageVersion,
      cluster: 'c',
      session: 's1',
      uid,
      firstListVersion: asOf,
      type: 'live',
      kind: 'Pod',
      asOf,
      entries,
    };
    await c.world.queues.events.send([{ body: encodeMessage(message) }]);
    await c.pass(10);
    expect(c.world.metrics.get('GuardedRemovals')).toBeGreaterThanOrEqual(2);
    expect(c.calls).toEqual([]);

    // their real end, of which the snapshot has nothing new to learn
    for (let i = 0; i < 11; i++) c.world.store.remove('Pod', 'default', `pod-${i}`);
    await c.pass(120);
    const [slice] = c.world.store.list('EndpointSlice', 'default') as unknown as { endpoints: object[] }[];
    const [endpoints] = c.world.store.list('Endpoints', 'default') as unknown as {
      subsets: { addresses: object[] }[];
    }[];
    expect(slice?.endpoints).toHaveLength(1);
    expect(endpoints?.subsets[0]?.addresses).toHaveLength(1);
  });
});

describe('the record of a key does what its work queue does upstream [UT-120, UT-121, UT-122]', () => {
  const fresh = (generation: number) => ({ generation, retryNumbers: { endpoints: 0, slices: 0 } });

  /** Each retry fails in turn. */
  function afterFailures(count: number): { readonly state: PartState; readonly gaveUp: boolean } {
    let state = idlePart;
    let gaveUp = false;
    for (let i = 0; i < count; i++) {
      const run = {
        generation: 1,
        retryNumber: state.retryNumber,
        delayedByBatch: false,
        requeueAfterSeconds: 0,
        nowMs: state.retryDueMs,
      };
      const next = nextState('slices', state, { kind: 'failed', error: 'denied' }, run);
      state = next.state;
      gaveUp = next.gaveUp !== undefined;
    }
    return { state, gaveUp };
  }

  it('many wake-ups before a run are one run, and those during a run one more [Q-1, Q-3: Collapse, CollapseWhileProcessing]', () => {
    const captured = 3;
    const item = (generation: number, done: number) => {
      const state = recordSuccess(idlePart, done);
      return { ...noWork, generation, parts: { endpoints: state, slices: state } };
    };
    for (const generation of [1, 2, 3]) expect(partsToRun(fresh(generation), item(3, captured))).toEqual([]);
    expect(partsToRun(fresh(4), item(5, captured))).toEqual(['endpoints', 'slices']);
    expect(partsToRun(fresh(5), item(5, 5))).toEqual([]);
  });

  it('a delayed wake-up whose work is done is dropped [Q-6, Q-8: Deduping]', () => {
    const state = recordSuccess(idlePart, 2);
    expect(
      partsToRun(fresh(1), { ...noWork, generation: 2, parts: { endpoints: state, slices: state } }),
    ).toEqual([]);
  });

  it('waits double up to the cap, without overflow, and start afresh after a success [Q-11, Q-13, Q-14, Q-15, Q-19]', () => {
    expect([0, 1, 2, 9, 10, 60].map((n) => backoffSeconds('slices', n))).toEqual([1, 2, 4, 512, 1000, 1000]);
    expect([0, 7, 8, 14, 60].map((n) => backoffSeconds('endpoints', n))).toEqual([1, 1, 2, 82, 1000]);
    expect(afterFailures(5).state.failures).toBe(5);
    expect(recordSuccess(afterFailures(5).state, 1).failures).toBe(0);
    expect(afterFailures(maxRetries + 1).state).toMatchObject({ failures: 0, doneGeneration: 1 });
  });

  it('the record of a key is exhausted by the sixteenth failure', () => {
    expect(afterFailures(maxRetries).gaveUp).toBe(false);
    expect(afterFailures(maxRetries + 1).gaveUp).toBe(true);
  });
});
