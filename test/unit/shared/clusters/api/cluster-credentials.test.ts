import http from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { STSClient } from '@aws-sdk/client-sts';
import { afterEach, describe, expect, it } from 'vitest';
import { clusterCredentials } from '#shared/clusters/api/cluster-credentials.ts';
import { type ClusterApiError, failureOf, isWithoutCredentials } from '#shared/clusters/api/errors.ts';
import { clusterRegistry } from '#shared/clusters/api/registry.ts';
import { type ApiAccess, decodeCluster } from '#shared/clusters/record.ts';
import { accessKey, metaKey } from '#shared/store/keys.ts';
import { listen } from '#test/support/network/listen.ts';
import { former, type KeyPair, renewed } from './key-pairs.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serve(server: http.Server): Promise<number> {
  const { port, close } = await listen(server);
  ends.push(close);
  return port;
}

interface Asked {
  readonly target: string;
  readonly body: string;
  readonly authorization: string;
}

/** Plays AWS with the given answers in order. */
async function aws(...answers: readonly (string | number)[]) {
  const asked: Asked[] = [];
  const port = await serve(
    http.createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      asked.push({
        target: String(request.headers['x-amz-target'] ?? ''),
        body,
        authorization: String(request.headers.authorization),
      });
      const answer = answers[asked.length - 1];
      if (typeof answer === 'number') response.writeHead(answer).end();
      else
        response
          .writeHead(answer === undefined || answer.includes('<Error>') ? 403 : 200)
          .end(answer ?? refusal);
    }),
  );
  const client = {
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-west-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'worker', secretAccessKey: 'secret' },
  };
  return { asked, sts: new STSClient(client), secrets: new SecretsManagerClient(client) };
}

const clock = { now: Date.parse('2026-01-02T03:04:05Z') };

/**
 * Connects by the registry to a cluster whose API accepts credentials by `lets`, and collects the presented
 * ones.
 */
async function entered(
  auth: ApiAccess['auth'],
  cloud: Awaited<ReturnType<typeof aws>>,
  lets: (shown: string) => boolean,
  {
    tls,
    registered = 'u',
  }: {
    readonly tls?: KeyPair & { readonly trusts?: string | undefined };
    readonly registered?: string;
  } = {},
) {
  const shown: string[] = [];
  const handle: http.RequestListener = (request, response) => {
    const peer = (request.socket as TLSSocket).getPeerCertificate?.();
    const who = request.headers.authorization ?? String(peer?.subject?.CN);
    shown.push(who);
    response.writeHead(lets(who) ? 200 : 401).end('{"metadata":{"uid":"u"}}');
  };
  const trusted = [former.clientCertificate, renewed.clientCertificate];
  const server = tls
    ? https.createServer(
        {
          cert: tls.clientCertificate,
          key: tls.clientKey,
          requestCert: true,
          rejectUnauthorized: false,
          ca: trusted,
        },
        handle,
      )
    : http.createServer(handle);
  const port = await serve(server as http.Server);
  const api = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    ...(tls && { ca: 'trusts' in tls ? tls.trusts : tls.clientCertificate }),
    auth,
  };
  const meta = decodeCluster(
    'c',
    { ...metaKey('c'), uid: registered },
    { ...accessKey('c'), api: JSON.stringify(api) },
  );
  const registry = clusterRegistry({
    connectionsFile: undefined,
    credentials: async () => ({ accessKeyId: 'AKIDWORKER', secretAccessKey: 'secret' }),
    region: 'eu-west-1',
    access: clusterCredentials({ sts: cloud.sts, secrets: cloud.secrets, now: () => clock.now }),
    now: () => clock.now,
    onRequest() {},
  });
  const call = async (): Promise<string> => (await registry(meta)).identity();
  return { shown, call };
}

const refusal =
  '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>';
const webIdentity = (token: string): string =>
  `<GetWebIdentityTokenResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetWebIdentityTokenResult><WebIdentityToken>${token}</WebIdentityToken><Expiration>2026-01-02T03:19:05Z</Expiration></GetWebIdentityTokenResult></GetWebIdentityTokenResponse>`;
const assumed = (key: string): string =>
  `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>${key}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2026-01-02T04:04:05Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;
const secret = (value: object): string =>
  JSON.stringify({ ARN: 'arn', Name: 'n', SecretString: JSON.stringify(value) });
const signedIn = (shown: string): URLSearchParams =>
  new URL(Buffer.from(shown.replace('Bearer k8s-aws-v1.', ''), 'base64url').toString()).searchParams;

describe('a cluster that trusts the account’s token issuer', () => {
  it('a cluster that trusts the account’s token issuer is shown a token that STS made for its audience, kept for five of its fifteen minutes', async () => {
    const cloud = await aws(webIdentity('one'), webIdentity('two'));
    const { shown, call } = await entered({ type: 'web-identity', audience: 'own' }, cloud, () => true);
    await Promise.all([call(), call()]);
    expect(cloud.asked.map(({ body }) => Object.fromEntries(new URLSearchParams(body)))).toEqual([
      {
        Action: 'GetWebIdentityToken',
        Version: '2011-06-15',
        'Audience.member.1': 'own',
        SigningAlgorithm: 'RS256',
        DurationSeconds: '900',
      },
    ]);
    expect(cloud.asked[0]?.authorization).toContain('Credential=worker/');
    clock.now += 299_000;
    await call();
    expect(cloud.asked).toHaveLength(1);
    clock.now += 2000;
    await call();
    expect(new Set(shown)).toEqual(new Set(['Bearer one', 'Bearer two']));
    expect(cloud.asked).toHaveLength(2);
  });

  it('a cluster gets a new token at once when it refuses the cached one', async () => {
    const cloud = await aws(webIdentity('one'), webIdentity('two'));
    const { shown, call } = await entered(
      { type: 'web-identity', audience: 'own' },
      cloud,
      (who) => who === 'Bearer two',
    );
    expect(await call()).toBe('u');
    expect(shown.slice(0, 2)).toEqual(['Bearer one', 'Bearer two']);
    expect(cloud.asked).toHaveLength(2);
  });

  it('a cluster that trusts the account’s token issuer gets the cached token while STS fails, until it expires, and then none: the cluster is not at fault', async () => {
    const cloud = await aws(webIdentity('one'), ...Array.from({ length: 4 }, () => 503));
    const { shown, call } = await entered({ type: 'web-identity', audience: 'own' }, cloud, () => true);
    await call();
    clock.now += 301_000;
    expect(await call()).toBe('u');
    await call();
    // The token is not requested again for each call.
    expect(cloud.asked).toHaveLength(2);
    clock.now += 500_000;
    expect(await call()).toBe('u');
    expect(new Set(shown)).toEqual(new Set(['Bearer one']));
    clock.now += 60_000;
    const asked = shown.length;
    const error = await call().catch((e: unknown) => e);
    expect(failureOf(error as ClusterApiError)).toBe('no-credentials');
    expect(shown).toHaveLength(asked);
  });

  it('a cluster that trusts the account’s token issuer does not get a refused token again while STS fails', async () => {
    const cloud = await aws(webIdentity('one'), 500);
    const { call } = await entered({ type: 'web-identity', audience: 'own' }, cloud, () => false);
    expect(isWithoutCredentials(await call().catch((e: unknown) => e))).toBe(true);
  });

  it('a cluster that trusts the account’s token issuer is shown a token of five minutes, used for a third of them, where the function’s own credentials end sooner than fifteen', async () => {
    const escalation =
      '<ErrorResponse><Error><Type>Sender</Type><Code>SessionDurationEscalationException</Code><Message>no</Message></Error></ErrorResponse>';
    const cloud = await aws(escalation, webIdentity('short'), webIdentity('next'));
    const { shown, call } = await entered({ type: 'web-identity', audience: 'own' }, cloud, () => true);
    expect(await call()).toBe('u');
    expect(cloud.asked.map(({ body }) => new URLSearchParams(body).get('DurationSeconds'))).toEqual([
      '900',
      '300',
    ]);
    clock.now += 101_000;
    await call();
    expect(new Set(shown)).toEqual(new Set(['Bearer short', 'Bearer next']));
  });

  it('a cluster that trusts the account’s token issuer cannot be entered while STS refuses, and can be when it no longer does: a refusal is not kept', async () => {
    const cloud = await aws();
    const { call } = await entered({ type: 'web-identity', audience: 'own' }, cloud, () => true);
    await expect(call()).rejects.toMatchObject({ name: 'ClusterApiError', status: 401 });
    const before = cloud.asked.length;
    await expect(call()).rejects.toMatchObject({ status: 401 });
    expect(cloud.asked.length).toBeGreaterThan(before);
  });
});

it('an API server that identifies as another cluster gets no requests', async () => {
  const cloud = await aws(secret({ token: 't' }));
  const { shown, call } = await entered({ type: 'secret', secretArn: 'arn' }, cloud, () => true, {
    registered: 'the-one-we-know',
  });
  await expect(call()).rejects.toThrow(
    'answers as another cluster: kube-system has uid u, the-one-we-know is registered',
  );
  expect(shown).toHaveLength(1);
});

describe('a cluster with a secret', () => {
  const auth = { type: 'secret', secretArn: 'arn:aws:secretsmanager:eu-west-1:1:secret:s-AbCdEf' } as const;

  it('a cluster with a secret is shown the token in it, read once, and again when it was refused', async () => {
    const cloud = await aws(secret({ token: 'old' }), secret({ token: 'rotated' }));
    const { shown, call } = await entered(auth, cloud, (who) => who === 'Bearer rotated');
    await call();
    await call();
    expect(cloud.asked.map(({ target, body }) => [target, JSON.parse(body)])).toEqual(
      Array.from({ length: 2 }, () => ['secretsmanager.GetSecretValue', { SecretId: auth.secretArn }]),
    );
    expect(shown[0]).toBe('Bearer old');
    expect(new Set(shown.slice(1))).toEqual(new Set(['Bearer rotated']));
  });

  it('a cluster with a secret is shown the client certificate in it, and a renewed one when that was refused', async () => {
    const cloud = await aws(secret(former), secret(renewed));
    const { shown, call } = await entered(auth, cloud, (who) => who === 'renewed', { tls: former });
    expect(await call()).toBe('u');
    expect(shown[0]).toBe('former');
    expect(new Set(shown.slice(1))).toEqual(new Set(['renewed']));
    expect(cloud.asked).toHaveLength(2);
  });

  it.each([
    ['a kubeconfig', 'apiVersion: v1\nkind: Config\nusers: [{ user: { exec: { command: sh } } }]'],
    [
      'a kubeconfig in JSON',
      JSON.stringify({ kind: 'Config', users: [{ user: { exec: { command: 'sh' } } }] }),
    ],
    ['a certificate without its key', JSON.stringify({ clientCertificate: 'x' })],
  ])('a cluster with a secret that contains %s is refused, without the secret’s text', async (_, text) => {
    const cloud = await aws(JSON.stringify({ SecretString: text }));
    const { call } = await entered(auth, cloud, () => true);
    await expect(call()).rejects.toThrow(/^secret arn:\S+ holds neither/);
  });
});

describe('an EKS cluster', () => {
  const auth = { type: 'eks', clusterName: 'shop' } as const;

  it('an EKS cluster is no cluster that the public authorities know: without its own authority no call and no token reaches it', async () => {
    const { shown, call } = await entered(auth, await aws(), () => true, {
      tls: { ...former, trusts: undefined },
    });
    await expect(call()).rejects.toThrow('self-signed certificate');
    expect(shown).toEqual([]);
  });

  it('an EKS cluster is known by its authority in base64 too, as CloudFormation fills it in', async () => {
    const trusts = Buffer.from(former.clientCertificate).toString('base64');
    const { call } = await entered(auth, await aws(), () => true, { tls: { ...former, trusts } });
    expect(await call()).toBe('u');
  });

  it('an EKS cluster is shown one token for ten of its fifteen minutes, of the region that is configured', async () => {
    const { shown, call } = await entered(
      { type: 'eks', clusterName: 'shop', region: 'us-west-2' },
      await aws(),
      () => true,
    );
    await call();
    clock.now += 599_000;
    await call();
    expect(new Set(shown).size).toBe(1);
    clock.now += 2000;
    await call();
    expect(new Set(shown).size).toBe(2);
    expect(signedIn(shown[0] ?? '').get('X-Amz-Credential')).toMatch(/^AKIDWORKER\/\d{8}\/us-west-2\//);
  });

  it('a cluster gets a new certificate when it refuses the cached one', async () => {
    const refused = new Set<string>();
    const { shown, call } = await entered(
      { type: 'eks', clusterName: 'shop' },
      await aws(),
      (who) => !refused.has(who),
    );
    await call();
    for (const each of shown) refused.add(each);
    clock.now += 1000;
    expect(await call()).toBe('u');
    expect(new Set(shown).size).toBe(2);
  });

  it('an EKS cluster of another account is entered with the role that is configured, by an external id that names the cluster', async () => {
    const roleArn = 'arn:aws:iam::444455556666:role/elsewhere';
    const cloud = await aws(assumed('ASIAELSEWHERE'));
    const { shown, call } = await entered({ type: 'eks', clusterName: 'shop', roleArn }, cloud, () => true);
    await call();
    expect(Object.fromEntries(new URLSearchParams(cloud.asked[0]?.body))).toMatchObject({
      Action: 'AssumeRole',
      RoleArn: roleArn,
      ExternalId: 'fleet-endpoints/c',
    });
    const signed = signedIn(shown[0] ?? '');
    expect(signed.get('X-Amz-Credential')).toMatch(/^ASIAELSEWHERE\/\d{8}\/eu-west-1\//);
    expect(signed.get('X-Amz-Security-Token')).toBe('t');
  });
});
