/**
 * Sweep's question to ARC on the wire: a server that checks Signature Version 4 as AWS specifies it, and
 * answers as ARC does, or badly.
 */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { zonalShiftOf } from '#functions/sweep/ask-zonal-shift.ts';
import { timeouts } from '#shared/aws-client-config.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const region = 'eu-central-1';
const functionArn = `arn:aws:lambda:${region}:111122223333:function:sweep`;
const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'token' };

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The signature of a GET without query and body, by the parts of the specification. */
function signatureOf({ url = '', headers }: IncomingMessage): string {
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? [];
  // Every service but S3 has the path encoded twice.
  const path = url.split('/').map(encodeURIComponent).join('/');
  const signed = names.split(';').map((name) => `${name}:${headers[name]}\n`);
  const canonical = ['GET', path, '', signed.join(''), names, hash('')].join('\n');
  const at = String(headers['x-amz-date']);
  const scope = [at.slice(0, 8), region, 'arc-zonal-shift', 'aws4_request'];
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`);
  const text = ['AWS4-HMAC-SHA256', at, scope.join('/'), hash(canonical)].join('\n');
  return hmac(key, text).toString('hex');
}

const shop = { appliedWeights: { 'euc1-az1': 1, 'euc1-az2': 0 }, zonalShifts: [], autoshifts: [] };
const answers: { readonly [cluster: string]: object | string } = {
  'arn:aws:eks:eu-central-1:111122223333:cluster/shop': shop,
  'arn:aws:eks:eu-central-1:444455556666:cluster/theirs': { appliedWeights: { 'euc1-az2': 1 } },
  'arn:aws:eks:eu-central-1:111122223333:cluster/large': { comment: 'x'.repeat(300_000) },
  'arn:aws:eks:eu-central-1:111122223333:cluster/broken': '<html>',
};

const arc: RequestListener = (request, response) => {
  const { url = '', headers } = request;
  const cluster = decodeURIComponent(url.replace('/managedresources/', ''));
  const isSigned =
    headers.authorization?.endsWith(`Signature=${signatureOf(request)}`) &&
    headers['x-amz-security-token'] === credentials.sessionToken;
  // Silence ends with the client's time-out.
  if (cluster.endsWith('/silent')) return;
  const answer = answers[cluster];
  response.writeHead(!isSigned ? 403 : answer === undefined ? 404 : 200);
  response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? { message: 'refused' }));
};

const server = createServer(arc);
let endpoint = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function asked(
  clusterName: string,
  {
    roleArn,
    secretAccessKey = credentials.secretAccessKey,
  }: { roleArn?: string; secretAccessKey?: string } = {},
) {
  const table = memoryTable();
  const auth = { type: 'eks', clusterName, ...(roleArn && { roleArn }) } as const;
  const api = { url: 'https://eks.example', auth };
  await registerCluster(table, { id: 'eks', mode: 'shadow', api }, 0);
  const deps = {
    awsCredentials: async () => ({ ...credentials, secretAccessKey }),
    // As the entry has it: that of a client of the SDK.
    requestHandler: new STSClient({ region, requestHandler: timeouts(300) }).config.requestHandler,
    now: () => now,
    env: { AWS_REGION: region, AWS_ENDPOINT_URL_ARC_ZONAL_SHIFT: endpoint },
  };
  return zonalShiftOf(deps, (await readCluster(table, 'eks')) as ClusterRecord, functionArn);
}

it('the server accepts the signature, and the zone without weight is away', async () => {
  const { state, ...more } = await asked('shop');
  expect([state, more]).toMatchObject(['read', { shifts: [{ zoneId: 'euc1-az2' }] }]);
});

it('a cluster with a role is asked for in the account of the role', async () => {
  const roleArn = 'arn:aws:iam::444455556666:role/reader';
  expect(await asked('theirs', { roleArn })).toEqual({ state: 'read', shifts: [] });
});

it.each([
  ['credentials of somebody else are denied', 'shop', 'other', 'denied'],
  ['a cluster without zonal shift is off', 'none', undefined, 'off'],
  ['an answer that is too large counts as none', 'large', undefined, 'unreachable'],
  ['an answer that is no JSON counts as none', 'broken', undefined, 'unreachable'],
  ['a server that is silent is given up', 'silent', undefined, 'unreachable'],
])('%s', async (_, cluster, secretAccessKey, state) => {
  expect((await asked(cluster, { ...(secretAccessKey && { secretAccessKey }) })).state).toBe(state);
});
