import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/**
 * A bearer token for an EKS cluster: a presigned GET of STS's GetCallerIdentity with the cluster's name signed in a header. The server
 * takes it for 15 minutes from `at`, and only with exactly these query parameters (aws-iam-authenticator's token.go).
 */
export function eksToken(clusterName: string, region: string, credentials: AwsCredentials, at: Date): string {
  const host = `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const timestamp = at.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = `${timestamp.slice(0, 8)}/${region}/sts/aws4_request`;
  const signedHeaders = 'host;x-k8s-aws-id';
  const query = new URLSearchParams({
    Action: 'GetCallerIdentity',
    Version: '2011-06-15',
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${credentials.accessKeyId}/${scope}`,
    'X-Amz-Date': timestamp,
    'X-Amz-Expires': '60',
    ...(credentials.sessionToken && { 'X-Amz-Security-Token': credentials.sessionToken }),
    'X-Amz-SignedHeaders': signedHeaders,
  });
  const canonicalQuery = [...query]
    .map(([k, v]) => `${encode(k)}=${encode(v)}`)
    .sort()
    .join('&');
  const canonicalRequest = ['GET', '/', canonicalQuery, `host:${host}\nx-k8s-aws-id:${clusterName}\n`, signedHeaders, hash('')].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', timestamp, scope, hash(canonicalRequest)].join('\n');
  const key = [timestamp.slice(0, 8), region, 'sts', 'aws4_request'].reduce<string | Buffer>(
    (k, part) => createHmac('sha256', k).update(part).digest(),
    `AWS4${credentials.secretAccessKey}`,
  );
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  const url = `https://${host}/?${canonicalQuery}&X-Amz-Signature=${signature}`;
  return `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const encode = (text: string): string => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
