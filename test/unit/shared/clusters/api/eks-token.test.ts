/**
 * The token is a request to STS that the cluster sends: every byte is signed, and the server takes no other
 * parameters (aws-iam-authenticator, token.go).
 */
import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type AwsCredentials, eksToken } from '#shared/clusters/api/eks-token.ts';

const at = new Date('2026-01-02T03:04:05.678Z');
const temporary: AwsCredentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  sessionToken: 'IQoJb3JpZ2luX2VjEXAMPLE//////////wEaCWV1LXdlc3QtMSI=',
};

function urlOf(token: string): URL {
  expect(token).toMatch(/^k8s-aws-v1\.[A-Za-z0-9_-]+$/);
  return new URL(Buffer.from(token.slice('k8s-aws-v1.'.length), 'base64url').toString());
}

describe('the token for an EKS cluster', () => {
  it('the token for an EKS cluster is for the host of its partition', async () => {
    expect(urlOf(await eksToken('shop-prod', 'cn-north-1', temporary, at)).host).toBe(
      'sts.cn-north-1.amazonaws.com.cn',
    );
  });

  it('the token for an EKS cluster is the request that botocore signs for the same cluster, second and credentials', async () => {
    const url = urlOf(await eksToken('shop-prod', 'eu-west-1', temporary, at));
    expect(`${url.origin}${url.pathname}`).toBe('https://sts.eu-west-1.amazonaws.com/');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      Action: 'GetCallerIdentity',
      Version: '2011-06-15',
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': 'AKIAIOSFODNN7EXAMPLE/20260102/eu-west-1/sts/aws4_request',
      'X-Amz-Date': '20260102T030405Z',
      'X-Amz-Expires': '60',
      'X-Amz-SignedHeaders': 'host;x-k8s-aws-id',
      'X-Amz-Security-Token': temporary.sessionToken,
      // botocore 1.43.11, SigV4QueryAuth with the header x-k8s-aws-id: shop-prod.
      'X-Amz-Signature': '4b607327a5425909c4a01f8546753a8cb9ac5072450497eaf438459a177a6392',
    });
  });

  it.each([
    ['eu-west-1', 'a-cluster', temporary],
    ['us-gov-west-1', 'another_cluster', { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }],
  ])(
    'the token for an EKS cluster is signed as the server checks it, by the parts of the URL: %s',
    async (region, cluster, credentials) => {
      const url = urlOf(await eksToken(cluster, region, credentials, at));
      expect(url.searchParams.has('X-Amz-Security-Token')).toBe('sessionToken' in credentials);
      expect(url.searchParams.get('X-Amz-Signature')).toBe(
        signatureOf(url, { host: url.host, 'x-k8s-aws-id': cluster }, credentials.secretAccessKey),
      );
      expect(url.searchParams.get('X-Amz-Signature')).not.toBe(
        signatureOf(url, { host: url.host, 'x-k8s-aws-id': 'other' }, credentials.secretAccessKey),
      );
    },
  );

  it('the token for an EKS cluster has at most the 4,096 bytes that the server takes, with the longest session token', async () => {
    expect(
      (await eksToken('c'.repeat(100), 'eu-west-1', { ...temporary, sessionToken: 'x'.repeat(2048) }, at))
        .length,
    ).toBeLessThan(4096);
  });
});

/** Signature Version 4 as AWS documents it, for a GET of "/" without a body. */
function signatureOf(url: URL, headers: { readonly [name: string]: string }, secret: string): string {
  const escaped = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const names = url.searchParams.get('X-Amz-SignedHeaders')?.split(';') ?? [];
  const request = [
    'GET',
    '/',
    query.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join('&'),
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    names.join(';'),
    createHash('sha256').update('').digest('hex'),
  ].join('\n');
  const [, ...scope] = url.searchParams.get('X-Amz-Credential')?.split('/') ?? [];
  let key: Buffer = Buffer.from(`AWS4${secret}`);
  for (const part of scope) key = createHmac('sha256', key).update(part).digest();
  const toSign = [
    'AWS4-HMAC-SHA256',
    url.searchParams.get('X-Amz-Date'),
    scope.join('/'),
    createHash('sha256').update(request).digest('hex'),
  ];
  return createHmac('sha256', key).update(toSign.join('\n')).digest('hex');
}
