/** How a deployed sweep reads the zonal shifts of a cluster of EKS. */

import {
  askZonalShift,
  eksClusterArn,
  type HttpAnswer,
  type ShiftsAnswer,
  type SignedRequest,
} from '#shared/clusters/api/arc-zonal-shift.ts';
import type { AwsCredentials } from '#shared/clusters/api/eks-token.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';

/** An answer has some KB. */
const maxBytes = 256 * 1024;

export interface ZonalShiftDeps {
  /** The hub's own, or those of the cluster's role. */
  readonly awsCredentials: (cluster: ClusterRecord) => Promise<AwsCredentials>;
  /** Of a client of the SDK, with the time-outs and the proxy of all calls of AWS. */
  readonly requestHandler: RequestHandler;
  readonly now: () => number;
  readonly env: NodeJS.ProcessEnv;
}

interface RequestHandler {
  readonly handle: (request: never) => Promise<{
    readonly response: { readonly statusCode: number; readonly body?: unknown };
  }>;
}

/** `functionArn`: of the hub's function, whose account the cluster is in unless its role says otherwise. */
export async function zonalShiftOf(
  { awsCredentials, requestHandler, now, env }: ZonalShiftDeps,
  cluster: ClusterRecord,
  functionArn: string,
): Promise<ShiftsAnswer> {
  const auth = cluster.api?.auth;
  if (auth?.type !== 'eks') return { state: 'off' };
  const { clusterName, roleArn, region = env['AWS_REGION'] ?? 'us-east-1' } = auth;
  const account = (roleArn ?? functionArn).split(':')[4] ?? '';
  try {
    return await askZonalShift({
      region,
      clusterArn: eksClusterArn(clusterName, region, account),
      credentials: await awsCredentials(cluster),
      at: new Date(now()),
      send: (request) => send(requestHandler, request),
      endpoint: env['AWS_ENDPOINT_URL_ARC_ZONAL_SHIFT'],
    });
  } catch (error) {
    return { state: 'unreachable', error: String(error) };
  }
}

async function send(handler: RequestHandler, request: SignedRequest): Promise<HttpAnswer> {
  const { response } = await handler.handle(request as never);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`the answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return { statusCode: response.statusCode, body: Buffer.concat(chunks).toString() };
}
