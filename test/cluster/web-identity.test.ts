/** The AuthenticationConfiguration of docs/getting-started.md, in a real kube-apiserver, with an issuer as AWS has one. */
import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { writerGroup } from '#infra/relay/relay-names.ts';
import { httpTransport } from '#shared/cluster-api/transport.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane.ts';
import { former } from '#test/unit/cluster/key-pairs.ts';

const role = (name: string): string => `arn:aws:iam::111122223333:role/FleetEndpoints-eu-central-1-${name}`;
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const issuer = https.createServer({ cert: former.clientCertificate, key: former.clientKey }, (request, response) => {
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' }];
  const discovery = {
    issuer: issuerUrl(),
    jwks_uri: `${issuerUrl()}/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
  };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(request.url === '/jwks' ? { keys } : discovery));
});
const issuerUrl = (): string => `https://127.0.0.1:${(issuer.address() as AddressInfo).port}`;

function tokenOf(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const seconds = Math.floor(Date.now() / 1000);
  const text = `${part({ alg: 'RS256', kid: 'k' })}.${part({ iss: issuerUrl(), aud: 'factory-1', iat: seconds, exp: seconds + 900, ...claims })}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`;
}

let controlPlane: ControlPlane;
let folder = '';
beforeAll(async () => {
  issuer.listen(0, '127.0.0.1');
  await once(issuer, 'listening');
  folder = await mkdtemp(join(tmpdir(), 'web-identity-'));
  controlPlane = await startControlPlane();
});
afterAll(async () => {
  issuer.close();
  issuer.closeAllConnections();
  await controlPlane?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The page's file with this cluster's names, and the authority of an issuer that no public one signs. */
async function startWith(apiVersion: string | undefined): Promise<void> {
  const page = await readFile('docs/getting-started.md', 'utf8');
  const [, yaml = ''] = /```yaml\n(apiVersion: apiserver\.config\.k8s\.io[\s\S]*?)```/.exec(page) ?? [];
  const config = parse(yaml.replace('SYNC_ROLE_ARN', role('sync')).replace('SWEEP_ROLE_ARN', role('sweep')).replace('[A]', '[factory-1]'));
  Object.assign(config.jwt[0].issuer, { url: issuerUrl(), certificateAuthority: former.clientCertificate });
  const file = join(folder, 'authentication.yaml');
  await writeFile(file, stringify({ ...config, ...(apiVersion && { apiVersion }) }));
  await controlPlane.apiServer.stop();
  await controlPlane.apiServer.start([`--authentication-config=${file}`]);
}

async function whoIs(claims: object): Promise<{ readonly status: number; readonly username?: string; readonly groups?: readonly string[] }> {
  const transport = httpTransport({ ...controlPlane.connection, token: tokenOf(claims) });
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
  const answer = await transport.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { body });
  transport.close();
  return { status: answer.status, ...JSON.parse(answer.body.toString()).status?.userInfo };
}

it.each([undefined, 'apiserver.config.k8s.io/v1'])(
  'an API server with the file of getting-started (version %s) knows the hub’s roles as writers, and no other role',
  async (apiVersion) => {
    await startWith(apiVersion);
    // The API server reads the issuer's keys after it is ready.
    await expect.poll(async () => (await whoIs({ sub: role('sync') })).status).toBe(201);
    expect(await whoIs({ sub: role('sync') })).toMatchObject({ username: `aws:${role('sync')}`, groups: expect.arrayContaining([writerGroup]) });
    expect(await whoIs({ sub: role('sweep') })).toMatchObject({ status: 201 });
    expect((await whoIs({ sub: role('ingest') })).status).toBe(401);
    expect((await whoIs({ sub: role('sync'), aud: 'another' })).status).toBe(401);
  },
);
