/** The truth table of what follows from a failed call to a cluster's API. */
import { describe, expect, it } from 'vitest';
import { type FailedCall, faultOf, outcomeOf } from '#functions/sync/admission/failure-outcome.ts';
import { ClusterApiError, noCredentials, timedOut, tooLarge } from '#shared/cluster-api/errors.ts';
import { defaultLimits as limits } from '#shared/contract/limits.ts';
import { RequeueAfter } from '#shared/workqueue/rules/outcome.ts';

const calls: readonly FailedCall[] = ['write', 'read'];
const unanswered = new ClusterApiError('no route', { status: 0 });

/** The end of a run as a text, with its calls for the cluster's identity. */
async function ended(error: unknown, call: FailedCall, { answers = true, isRetry = false } = {}): Promise<string> {
  let [asked, opened] = [0, 0];
  const log = { info() {}, warn() {}, error() {}, with: () => log };
  const table = { update: async () => void opened++ };
  const controller = { doneGeneration: 1, retryGeneration: isRetry ? 2 : 0 };
  const run = {
    deps: { table, log, metrics: { put() {} }, now: () => 0, random: () => 0, limits },
    cluster: { id: 'c' },
    work: { controllers: { endpoints: controller, slices: controller } },
    brief: {
      identity: async () => {
        asked++;
        if (!answers) throw unanswered;
        return 'uid';
      },
    },
  };
  const outcome = await outcomeOf(run as never, error, call);
  const text = outcome.kind === 'requeued' ? `${outcome.reason.split(':')[0]} ${outcome.requeueAfterSeconds} s` : outcome.kind;
  return `${opened > 0 ? 'open ' : ''}${text}${asked > 0 ? ', probed' : ''}`;
}

const of = (status: number, more: object = {}) => new ClusterApiError('x', { status, ...more });
const circuit = 'open circuit 15 s';

describe('a failed call', () => {
  it.each<[string, ClusterApiError, answered: readonly [string, string], unanswered?: readonly [string, string]]>([
    ['without credentials', of(0, { reason: noCredentials }), ['no credentials for now 1 s', 'no credentials for now 1 s']],
    ['by a broken connection', of(0), ['connection lost 1 s, probed', 'connection lost 1 s, probed'], [`${circuit}, probed`, `${circuit}, probed`]],
    ['without an answer', of(0, { reason: timedOut }), ['failed, probed', circuit], [`${circuit}, probed`, circuit]],
    ['with 500', of(500), ['failed, probed', circuit], [`${circuit}, probed`, circuit]],
    ['with 503', of(503), ['failed, probed', circuit], [`${circuit}, probed`, circuit]],
    ['with 401', of(401), [circuit, circuit]],
    ['with 408', of(408), [circuit, circuit]],
    ['with 429', of(429), [circuit, circuit]],
    ['with 403', of(403), ['failed', circuit]],
    ['with 422', of(422), ['failed', 'failed']],
    ['with 404', of(404), ['failed', 'failed']],
    ['with Conflict', of(409), ['failed', 'failed']],
    ['with AlreadyExists', of(409, { reason: 'AlreadyExists' }), ['failed', 'failed']],
    ['with 400', of(400), ['failed', 'failed']],
    ['with too large an answer', of(0, { reason: tooLarge }), ['failed', 'failed']],
  ])('%s ends the write of a service, and the read of one', async (_how, error, answered, unanswered = answered) => {
    expect(await Promise.all(calls.map((call) => ended(error, call)))).toEqual(answered);
    expect(await Promise.all(calls.map((call) => ended(error, call, { answers: false })))).toEqual(unanswered);
  });

  it.each(calls)('by a second broken connection in a row opens the circuit, at a %s', async (call) => {
    expect(await ended(of(0), call, { isRetry: true })).toBe(circuit);
  });

  it('a run that has no time left to probe is requeued for that', async () => {
    const late = new RequeueAfter({ kind: 'requeued', reason: 'too little time left', requeueAfterSeconds: 1 });
    const run = { work: { controllers: { endpoints: {}, slices: {} } }, brief: { identity: () => Promise.reject(late) } };
    expect(await faultOf(run as never, of(500), 'write')).toBe(late.outcome);
  });

  it('an error of another kind is thrown, and a run that postpones itself is postponed', async () => {
    await expect(ended(new TypeError('x'), 'read')).rejects.toThrow(TypeError);
    expect(await ended(new RequeueAfter({ kind: 'requeued', reason: 'y', requeueAfterSeconds: 3 }), 'read')).toBe('y 3 s');
  });
});
