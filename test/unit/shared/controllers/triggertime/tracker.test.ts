import { describe, expect, it } from 'vitest';
import { computeTriggerTime, type TriggerTimes } from '#shared/controllers/triggertime/tracker.ts';
import type { Pod, Service } from '#shared/kube/types.ts';

const [t0, t1, t2, t3, t4] = [0, 1, 2, 3, 4].map((day) => `2018-01-0${day + 1}T00:00:00Z`) as [
  string,
  string,
  string,
  string,
  string,
];

/** A service's life, run by run. */
function story() {
  let state: TriggerTimes | undefined;
  return {
    /** A run that sees the service made then and the pods ready since then; what the annotation becomes. */
    sees(
      created: string | undefined,
      pods: { readonly [name: string]: string | null } = {},
    ): string | undefined {
      const { triggerTime, next } = computeTriggerTime(
        state,
        madeAt(created),
        Object.entries(pods).map(readySince),
      );
      state = next;
      return triggerTime;
    },
    /** A run that finds no service. */
    seesNone() {
      state = undefined;
    },
  };
}

const madeAt = (created: string | undefined): Service => ({
  metadata: { name: 'svc', namespace: 'ns', ...(created && { creationTimestamp: created }) },
});

const readySince = ([name, since]: [string, string | null]): Pod => ({
  metadata: { name, namespace: 'ns' },
  status: {
    conditions: since === null ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: since }],
  },
});

describe('trigger times [UT-58 TriggerTimeTracker]', () => {
  it('a new service without pods: when it was made [NewServiceNoPods]', () => {
    expect(story().sees(t2)).toBe(t2);
  });

  it('a new service among pods: when it was made, even if they are newer [NewServiceExistingPods]', () => {
    expect(story().sees(t3, { p1: t0, p2: t1, p3: t2 })).toBe(t3);
    expect(story().sees(t0, { p1: t1, p2: t2 })).toBe(t0);
  });

  it('added pods: the earliest of them [PodsAdded]', () => {
    const s = story();
    expect(s.sees(t0)).toBe(t0);
    expect(s.sees(t0, { p1: t2, p2: t1 })).toBe(t1);
  });

  it('changed pods: the earliest of the changed ones [PodsUpdated]', () => {
    const s = story();
    s.sees(t0, { p1: t1, p2: t1, p3: t1 });
    expect(s.sees(t0, { p1: t1, p2: t2, p3: t3 })).toBe(t2);
  });

  it('a pod without a change has no trigger time [PodsUpdatedNoOp]', () => {
    const s = story();
    s.sees(t0, { p1: t1, p2: t1 });
    expect(s.sees(t0, { p1: t1, p2: t1 })).toBeUndefined();
  });

  it('a pod that left: none, and its new time when it comes back, even if that is old [PodDeletedThenAdded]', () => {
    const s = story();
    s.sees(t0, { p1: t3, p2: t1 });
    expect(s.sees(t0, { p2: t1 })).toBeUndefined();
    expect(s.sees(t0, { p1: t2, p2: t1 })).toBe(t2);
  });

  it('a service created again: its creation time [ServiceDeletedThenAdded]', () => {
    const s = story();
    s.sees(t0);
    s.seesNone();
    expect(s.sees(t1)).toBe(t1);
  });

  it('a service created again between two runs: its creation time', () => {
    const s = story();
    s.sees(t0, { p1: t0 });
    expect(s.sees(t1, { p1: t0 })).toBe(t1);
    expect(s.sees(t2, { p1: t1 })).toBe(t1);
  });

  it('a changed service, and pods as they were: none [ServiceUpdatedNoPodChange]', () => {
    const s = story();
    s.sees(t0, { p1: t1 });
    expect(s.sees(t0, { p1: t1 })).toBeUndefined();
  });

  it('a time that went back is no change, but the next is compared with it', () => {
    const s = story();
    s.sees(t0, { p1: t4 });
    expect(s.sees(t0, { p1: t1 })).toBeUndefined();
    expect(s.sees(t0, { p1: t2 })).toBe(t2);
  });

  it('a pod without a Ready condition has no time and is forgotten', () => {
    const s = story();
    s.sees(t0, { p1: t1 });
    expect(s.sees(t0, { p1: null })).toBeUndefined();
    expect(s.sees(t0, { p1: t1 })).toBe(t1);
  });

  it('a service without a creation time: none, and later its pods count', () => {
    const s = story();
    expect(s.sees(undefined, { p1: t1 })).toBeUndefined();
    expect(s.sees(undefined, { p1: t2 })).toBe(t2);
  });

  it('1970 is a time like any other', () => {
    const s = story();
    expect(s.sees('1970-01-01T00:00:00Z')).toBe('1970-01-01T00:00:00Z');
    expect(s.sees('1970-01-01T00:00:00Z', { p1: '1970-01-01T00:00:00.005Z' })).toBe(
      '1970-01-01T00:00:00.005Z',
    );
  });

  it('a trigger time is written in UTC without trailing zeros', () => {
    expect(story().sees('2018-01-01T02:30:00+02:00')).toBe('2018-01-01T00:30:00Z');
    expect(story().sees('2018-01-01T00:00:00.500Z')).toBe('2018-01-01T00:00:00.5Z');
    expect(story().sees('2018-01-01T00:00:00.100000Z')).toBe('2018-01-01T00:00:00.1Z');
  });

  it('the tracker takes the first Ready condition, with any status', () => {
    const pod: Pod = {
      metadata: { name: 'p' },
      status: {
        conditions: [
          { type: 'Initialized', status: 'True', lastTransitionTime: t1 },
          { type: 'Ready', status: 'False', lastTransitionTime: t2 },
          { type: 'Ready', status: 'True', lastTransitionTime: t3 },
        ],
      },
    };
    const first = computeTriggerTime(undefined, madeAt(t0), []);
    expect(computeTriggerTime(first.next, madeAt(t0), [pod]).triggerTime).toBe(t2);
  });
});
