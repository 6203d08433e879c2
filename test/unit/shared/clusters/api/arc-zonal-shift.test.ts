import { expect, it } from 'vitest';
import {
  askZonalShift,
  eksClusterArn,
  type HttpAnswer,
  type SignedRequest,
  shiftsIn,
} from '#shared/clusters/api/arc-zonal-shift.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const seconds = now / 1000;
const shift = {
  appliedStatus: 'APPLIED',
  awayFrom: 'euc1-az2',
  startTime: seconds - 60,
  expiryTime: seconds + 3600,
  zonalShiftId: 'zs-1',
};
const weights = { 'euc1-az1': 1, 'euc1-az2': 0, 'euc1-az3': 1 };
const read = { zoneId: 'euc1-az2', sinceMs: now - 60_000, untilMs: now + 3_600_000, by: 'ARC shift zs-1' };

it.each<[string, unknown, unknown]>([
  ['no shift', { appliedWeights: { 'euc1-az1': 1, 'euc1-az2': 1 } }, []],
  ['a shift', { appliedWeights: weights, zonalShifts: [shift] }, [read]],
  ['a shift without weights', { zonalShifts: [shift] }, [read]],
  ['a shift that is over, without weights', { zonalShifts: [{ ...shift, expiryTime: seconds - 1 }] }, []],
  ['a shift that is not applied', { zonalShifts: [{ ...shift, appliedStatus: 'NOT_APPLIED' }] }, []],
  [
    'an autoshift',
    {
      appliedWeights: weights,
      autoshifts: [{ appliedStatus: 'APPLIED', awayFrom: 'euc1-az2', startTime: seconds }],
    },
    [{ zoneId: 'euc1-az2', sinceMs: now, untilMs: undefined, by: 'ARC autoshift' }],
  ],
  [
    'weights that say so alone',
    { appliedWeights: weights },
    [{ ...read, sinceMs: undefined, untilMs: undefined, by: 'ARC autoshift' }],
  ],
  ['nothing', {}, []],
])('an answer with %s is read', (_, answer, expected) => {
  expect(shiftsIn(answer, now)).toEqual(expected);
});

it.each<[string, unknown]>([
  ['every zone away', { appliedWeights: { 'euc1-az1': 0, 'euc1-az2': 0 } }],
  ['a weight that is no number', { appliedWeights: { 'euc1-az1': '0', 'euc1-az2': 1 } }],
  ['a zone with a long name', { appliedWeights: { ['z'.repeat(21)]: 0, 'euc1-az2': 1 } }],
  [
    'too many zones',
    { appliedWeights: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`z${i}`, 1])) },
  ],
  ['shifts that are no list', { appliedWeights: weights, zonalShifts: 'x' }],
])('an answer with %s is refused as a whole', (_, answer) => {
  expect(() => shiftsIn(answer, now)).toThrow();
});

async function asked(answer: HttpAnswer | Error, region = 'eu-central-1') {
  const sent: SignedRequest[] = [];
  const result = await askZonalShift({
    region,
    clusterArn: eksClusterArn('shop', region, '111122223333'),
    credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'token' },
    at: new Date(now),
    send: async (request) => {
      sent.push(request);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  return { result, sent };
}

it('the request is a signed GET of the cluster', async () => {
  const { result, sent } = await asked({
    statusCode: 200,
    body: JSON.stringify({ appliedWeights: weights, zonalShifts: [shift] }),
  });
  expect(result).toEqual({ state: 'read', shifts: [read] });
  expect(sent[0]).toMatchObject({
    method: 'GET',
    protocol: 'https:',
    hostname: 'arc-zonal-shift.eu-central-1.amazonaws.com',
    path: '/managedresources/arn%3Aaws%3Aeks%3Aeu-central-1%3A111122223333%3Acluster%2Fshop',
  });
  expect(sent[0]?.headers['authorization']).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKID\/20260301\/eu-central-1\/arc-zonal-shift\/aws4_request, SignedHeaders=host;/,
  );
  expect((await asked({ statusCode: 404, body: '' }, 'cn-north-1')).sent[0]).toMatchObject({
    hostname: 'arc-zonal-shift.cn-north-1.amazonaws.com.cn',
    path: expect.stringContaining('arn%3Aaws-cn%3Aeks'),
  });
});

it.each<[HttpAnswer | Error, string]>([
  [{ statusCode: 404, body: '' }, 'off'],
  [{ statusCode: 403, body: 'AccessDenied' }, 'denied'],
  [{ statusCode: 429, body: '' }, 'unreachable'],
  [{ statusCode: 500, body: '' }, 'unreachable'],
  [{ statusCode: 200, body: '<html>' }, 'unreachable'],
  [new Error('time-out'), 'unreachable'],
])('another answer has its state: %j', async (answer, state) => {
  expect((await asked(answer)).result.state).toBe(state);
});
