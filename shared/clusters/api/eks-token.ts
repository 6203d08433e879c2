import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '#shared/sha256.ts';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/**
 * A bearer token for an EKS cluster: a presigned GET of STS's GetCallerIdentity with the cluster's name
 * signed in a header. The server takes it for 15 minutes from `at`, and only with exactly these query
 * parameters (aws-iam-authenticator's token.go).
 */
export async function eksToken(
  clusterName: string,
  region: string,
  credentials: AwsCredentials,
  at: Date,
): Promise<string> {
  const hostname = `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const signer = new SignatureV4({ service: 'sts', region, credentials, sha256: Sha256 });
  const { query } = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname,
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host: hostname, 'x-k8s-aws-id': clusterName },
    },
    { signingDate: at, expiresIn: 60 },
  );
  const url = `https://${hostname}/?${new URLSearchParams(query as { [name: string]: string })}`;
  return `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`;
}
