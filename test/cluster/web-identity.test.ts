/**
 * The AuthenticationConfiguration of docs/operate/getting-started.md, in a real kube-apiserver, with an issuer as AWS
 * has one.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writerGroup } from '#infra/relay/relay-names.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import {
  authenticationConfiguration,
  startTokenIssuer,
  type TokenIssuer,
} from '#test/support/aws/token-issuer.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';

const role = (name: string): string => `arn:aws:iam::111122223333:role/FleetEndpoints-eu-central-1-${name}`;
let issuer: TokenIssuer;
let controlPlane: ControlPlane;
let folder = '';
beforeAll(async () => {
  issuer = await startTokenIssuer();
  folder = await mkdtemp(join(tmpdir(), 'web-identity-'));
  controlPlane = await startControlPlane();
});
afterAll(async () => {
  issuer?.close();
  await controlPlane?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function startWith(apiVersion: string | undefined): Promise<void> {
  const file = join(folder, 'authentication.yaml');
  const names = { issuer, worker: role('worker'), sweep: role('sweep'), audience: 'factory-1' };
  await writeFile(file, await authenticationConfiguration(names, apiVersion));
  await controlPlane.apiServer.stop();
  await controlPlane.apiServer.start([`--authentication-config=${file}`]);
}

async function whoIs(claims: {
  readonly sub: string;
  readonly aud?: string;
}): Promise<{ readonly status: number; readonly username?: string; readonly groups?: readonly string[] }> {
  const transport = httpTransport({
    ...controlPlane.connection,
    token: issuer.token({ aud: 'factory-1', ...claims }),
  });
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
  const answer = await transport.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    body,
  });
  transport.close();
  return { status: answer.status, ...JSON.parse(answer.body.toString()).status?.userInfo };
}

it.each([undefined, 'apiserver.config.k8s.io/v1'])(
  'an API server with the file of getting-started (version %s) knows the hub’s roles as writers, and no other role',
  async (apiVersion) => {
    await startWith(apiVersion);
    // The API server reads the issuer's keys after it is ready.
    await expect.poll(async () => (await whoIs({ sub: role('worker') })).status).toBe(201);
    expect(await whoIs({ sub: role('worker') })).toMatchObject({
      username: `aws:${role('worker')}`,
      groups: expect.arrayContaining([writerGroup]),
    });
    expect(await whoIs({ sub: role('sweep') })).toMatchObject({ status: 201 });
    expect((await whoIs({ sub: role('register') })).status).toBe(401);
    expect((await whoIs({ sub: role('worker'), aud: 'another' })).status).toBe(401);
  },
);
