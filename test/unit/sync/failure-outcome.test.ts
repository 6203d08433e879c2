/** The truth table of what follows from a failed call to a cluster's API. */
import { describe, expect, it } from 'vitest';
import { type FailedCall, outcomeOf } from '#functions/sync/admission/failure-outcome.ts';
import { ClusterApiError, noCredentials, timedOut, tooLarge } from '#shared/clusters/api/errors.ts';
import { defaultLimits as limits } from '#shared/contract/limits.ts';
import { RequeueAfter } from '#shared/workqueue/rules/outcome.ts';

const calls: readonly FailedCall[] = ['write', 'read'];
const unanswered = new ClusterApiError('no route', { status: 0 });

interface Situation {
  /** What the probe is answered with, if not with the cluster's identity. */
  readonly probed?: Error;
  readonly rounds?: number;
}

/** The end of a run as a text, with its calls for the cluster's identity. */
async function ended(
  error: unknown,
  call: FailedCall,
  { probed, rounds = 0 }: Situation = {},
): Promise<string> {
  let asked = 0;
  let opened = '';
  const log = { info() {}, warn() {}, error() {}, with: () => log };
  const update = async (_key: unknown, { set }: { set: { circuit: string } }): Promise<void> => {
    opened = `open ${JSON.parse(set.circuit).reason} `;
  };
  const run = {
    deps: { table: { update }, log, metrics: { put() {} }, now: () => 0, random: () => 0, limits },
    cluster: { id: 'c' },
    rounds,
    brief: {
      identity: async () => {
        asked++;
        if (probed) throw probed;
        return 'uid';
      },
    },
  };
  const outcome = await outcomeOf(run as never, error, call);
  const text =
    outcome.kind === 'requeued'
      ? `${outcome.reason.split(':')[0]} ${outcome.requeueAfterSeconds} s`
      : outcome.kind;
  return `${opened}${text}${asked > 0 ? ', probed' : ''}`;
}

const of = (status: number, more: object = {}) => new ClusterApiError('x', { status, ...more });
const silent = 'open unreachable circuit 15 s, probed';
const own = 'failed, probed';
const requeued = 'call not served 1 s, probed';
const both = (text: string) => [text, text] as const;

describe('a failed call', () => {
  it.each<
    [string, ClusterApiError, answered: readonly [string, string], unanswered?: readonly [string, string]]
  >([
    ['without credentials', of(0, { reason: noCredentials }), both('no credentials for now 2 s')],
    ['by a broken connection', of(0), both(requeued), both(silent)],
    ['without an answer', of(0, { reason: timedOut }), [own, requeued], both(silent)],
    ['with 500', of(500), [own, requeued], both(silent)],
    ['with 503', of(503), [own, requeued], both(silent)],
    ['with 408', of(408), [own, requeued], both(silent)],
    ['with 401', of(401), both('open unauthorized circuit 15 s')],
    ['with 429', of(429), both('open throttled circuit 15 s')],
    ['with 403', of(403), ['failed', requeued], ['failed', silent]],
    ['with 422', of(422), both('failed')],
    ['with 404', of(404), both('failed')],
    ['with Conflict', of(409), both('failed')],
    ['with AlreadyExists', of(409, { reason: 'AlreadyExists' }), both('failed')],
    ['with 400', of(400), both('failed')],
    ['with too large an answer', of(0, { reason: tooLarge }), both('failed')],
  ])(
    '%s ends the write of a service, and the read of one',
    async (_how, error, answered, silence = answered) => {
      expect(await Promise.all(calls.map((call) => ended(error, call)))).toEqual(answered);
      expect(await Promise.all(calls.map((call) => ended(error, call, { probed: unanswered })))).toEqual(
        silence,
      );
    },
  );

  it.each<[string, Error, string]>([
    ['is refused', of(403), 'open forbidden circuit 15 s, probed'],
    ['is answered with a 500', of(500), 'open server-error circuit 15 s, probed'],
    ['is throttled', of(429, { retryAfterSeconds: 7 }), 'open throttled circuit 7 s, probed'],
    [
      'is not sent, as AWS gives no credentials',
      of(0, { reason: noCredentials }),
      'no credentials for now 2 s, probed',
    ],
  ])('a failed call whose probe %s ends the run by the outcome of the probe', async (_how, probed, text) => {
    expect(await Promise.all(calls.map((call) => ended(of(500), call, { probed })))).toEqual(both(text));
  });

  it.each(calls)(
    'a run with a failed %s again and again waits longer and longer while the cluster answers',
    async (call) => {
      const waits = await Promise.all([0, 1, 2, 5, 9, 500].map((rounds) => ended(of(0), call, { rounds })));
      expect(waits).toEqual([1, 1, 2, 16, 150, 150].map((seconds) => `call not served ${seconds} s, probed`));
    },
  );

  it('a run that has no time left to probe is requeued for that', async () => {
    const late = new RequeueAfter({
      kind: 'requeued',
      reason: 'too little time left',
      requeueAfterSeconds: 1,
    });
    expect(await ended(of(500), 'write', { probed: late })).toBe('too little time left 1 s, probed');
  });

  it('an error of another kind is thrown, and a run that postpones itself is postponed', async () => {
    await expect(ended(new TypeError('x'), 'read')).rejects.toThrow(TypeError);
    expect(
      await ended(new RequeueAfter({ kind: 'requeued', reason: 'y', requeueAfterSeconds: 3 }), 'read'),
    ).toBe('y 3 s');
  });

  it('with fields for the log an error is the run’s own failure, unless the table or a queue refused a call', async () => {
    const { log } = { log: { info() {}, warn() {}, error() {}, with: () => log } };
    const run = { deps: { log, metrics: { put() {} } }, cluster: { id: 'c' } } as never;
    const throttled = Object.assign(new Error('too many requests'), { $metadata: { attempts: 6 } });
    const addsNothing = new Error('no work can be added', { cause: throttled });
    expect(await outcomeOf(run, new TypeError('x'), 'write', {})).toMatchObject({ kind: 'failed' });
    await expect(outcomeOf(run, throttled, 'write', {})).rejects.toThrow(throttled);
    await expect(outcomeOf(run, addsNothing, 'write', {})).rejects.toThrow(addsNothing);
  });
});
