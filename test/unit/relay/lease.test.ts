import { describe, expect, it } from 'vitest';
import { type ElectionState, type Lease, nextStep } from '#functions/relay/election/lease.ts';

const lease = (holder: string, durationMs = 6_000): Lease => ({
  holder,
  durationMs,
  transitions: 0,
  resourceVersion: '7',
});
const seen = (holder: string, sinceMs: number) => ({ lease: lease(holder), sinceMs });
const stateOf = (more: Partial<ElectionState>): ElectionState => ({
  id: 'a',
  observed: undefined,
  leadsUntilMs: undefined,
  reacquiresAtMs: Number.NEGATIVE_INFINITY,
  queueFailingMs: 0,
  queueFailureTimeoutMs: 4_000,
  ...more,
});
const now = 100_000;

describe('a relay on standby', () => {
  it.each<readonly [string, Partial<ElectionState>, ReturnType<typeof nextStep>]>([
    ['makes a lease where there is none', {}, 'create'],
    ['takes one that was given back', { observed: seen('', now) }, 'take'],
    ['waits while another renews it', { observed: seen('b', now - 1) }, 'wait'],
    [
      'waits until just before the duration since it saw the last renewal',
      { observed: seen('b', now - 5_999) },
      'wait',
    ],
    [
      'takes it when it has seen no renewal for the whole duration',
      { observed: seen('b', now - 6_000) },
      'take',
    ],
    [
      'counts the duration that the holder has promised',
      { observed: { lease: lease('b', 20_000), sinceMs: now - 19_999 } },
      'wait',
    ],
    [
      'goes on with one that is still its own, as after an answer that got lost',
      { observed: seen('a', now - 60_000) },
      'renew',
    ],
    [
      'leaves a free one to others for a while after it gave it back',
      { observed: seen('', now - 500), reacquiresAtMs: now + 1 },
      'wait',
    ],
    [
      'takes it after that while if no other relay has',
      { observed: seen('', now - 3_000), reacquiresAtMs: now },
      'take',
    ],
    ['makes one where there is none in that while too', { reacquiresAtMs: now + 1 }, 'create'],
  ])('%s', (_what, more, step) => expect(nextStep(stateOf(more), now)).toBe(step));
});

describe('a leading relay', () => {
  it.each<readonly [string, Partial<ElectionState>, ReturnType<typeof nextStep>]>([
    ['renews', { observed: seen('a', now - 1_500), leadsUntilMs: now + 3_000 }, 'renew'],
    [
      'stops when it could not renew in time',
      { observed: seen('a', now - 4_500), leadsUntilMs: now },
      'lost',
    ],
    [
      'stops when it wakes long after the end, whatever it last saw',
      { observed: seen('a', now - 60_000), leadsUntilMs: now - 55_000 },
      'lost',
    ],
    ['stops when another holds it', { observed: seen('b', now), leadsUntilMs: now + 3_000 }, 'lost'],
    [
      'bears a queue that does not answer for a moment',
      { observed: seen('a', now), leadsUntilMs: now + 3_000, queueFailingMs: 4_000 },
      'renew',
    ],
    [
      'gives it back when the queue takes nothing any more',
      { observed: seen('a', now), leadsUntilMs: now + 3_000, queueFailingMs: 4_001 },
      'give back',
    ],
    [
      'bears it for longer when that has not helped',
      {
        observed: seen('a', now),
        leadsUntilMs: now + 3_000,
        queueFailingMs: 4_001,
        queueFailureTimeoutMs: 8_000,
      },
      'renew',
    ],
  ])('%s', (_what, more, step) => expect(nextStep(stateOf(more), now)).toBe(step));
});
