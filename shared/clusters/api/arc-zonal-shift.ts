/**
 * The zonal shift of an EKS cluster, asked of Amazon Application Recovery Controller (GetManagedResource). Its
 * own client of the SDK would be a dependency for one GET.
 */
import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '#shared/sha256.ts';
import type { AwsCredentials } from './eks-token.ts';

/** Traffic is to leave a zone. */
export interface Shift {
  readonly zoneId: string;
  readonly sinceMs: number | undefined;
  /** Undefined for an autoshift, which AWS ends. */
  readonly untilMs: number | undefined;
  readonly by: string;
}

/** `off`: zonal shift is not enabled for the cluster. */
export type ShiftsAnswer =
  | { readonly state: 'read'; readonly shifts: readonly Shift[] }
  | { readonly state: 'off' }
  | { readonly state: 'denied' | 'unreachable'; readonly error: string };

export interface HttpAnswer {
  readonly statusCode: number;
  readonly body: string;
}

export interface ZonalShiftRequest {
  readonly region: string;
  readonly clusterArn: string;
  readonly credentials: AwsCredentials;
  readonly at: Date;
  /** Rejects without an answer in time, or with one that is too large. */
  readonly send: (request: SignedRequest) => Promise<HttpAnswer>;
  /** Of a test; otherwise the service's own. */
  readonly endpoint?: string | undefined;
}

export interface SignedRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly query?: Record<string, string | string[] | null> | undefined;
}

/** Never rejects. */
export async function askZonalShift(request: ZonalShiftRequest): Promise<ShiftsAnswer> {
  try {
    const { statusCode, body } = await request.send(await signed(request));
    if (statusCode === 404) return { state: 'off' };
    if (statusCode === 401 || statusCode === 403) return { state: 'denied', error: body.slice(0, 300) };
    if (statusCode !== 200) return { state: 'unreachable', error: `status ${statusCode}` };
    return { state: 'read', shifts: shiftsIn(JSON.parse(body), request.at.getTime()) };
  } catch (error) {
    return { state: 'unreachable', error: String(error) };
  }
}

async function signed({
  region,
  clusterArn,
  credentials,
  at,
  endpoint,
}: ZonalShiftRequest): Promise<SignedRequest> {
  const suffix = region.startsWith('cn-') ? '.cn' : '';
  const { protocol, hostname, port } = new URL(
    endpoint ?? `https://arc-zonal-shift.${region}.amazonaws.com${suffix}`,
  );
  const host = port === '' ? hostname : `${hostname}:${port}`;
  const signer = new SignatureV4({ service: 'arc-zonal-shift', region, credentials, sha256: Sha256 });
  const path = `/managedresources/${encodeURIComponent(clusterArn)}`;
  const place = { protocol, hostname, ...(port !== '' && { port: Number(port) }) };
  return signer.sign({ method: 'GET', ...place, path, query: {}, headers: { host } }, { signingDate: at });
}

export const eksClusterArn = (name: string, region: string, account: string): string =>
  `arn:${partitionOf(region)}:eks:${region}:${account}:cluster/${name}`;

const partitionOf = (region: string): string =>
  region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';

const [maxZones, maxIdLength] = [16, 20];

/**
 * The zones that have no weight. Throws an Error for an answer that is no such answer, or takes the traffic
 * from every zone.
 */
export function shiftsIn(answer: unknown, nowMs: number): readonly Shift[] {
  const { appliedWeights = {}, zonalShifts = [], autoshifts = [] } = (answer ?? {}) as Answer;
  const weights = Object.entries(appliedWeights);
  const isZone = (id: unknown): boolean =>
    typeof id === 'string' && id.length > 0 && id.length <= maxIdLength;
  const isRead =
    Array.isArray(zonalShifts) &&
    Array.isArray(autoshifts) &&
    weights.length <= maxZones &&
    weights.every(([id, weight]) => isZone(id) && typeof weight === 'number');
  if (!isRead) throw new Error('the answer is no managed resource');
  if (weights.length > 0 && weights.every(([, weight]) => weight === 0))
    throw new Error('the answer takes the traffic from every zone');
  const applied = [...zonalShifts, ...autoshifts].filter(
    ({ appliedStatus, awayFrom, expiryTime }) =>
      appliedStatus === 'APPLIED' &&
      isZone(awayFrom) &&
      (msOf(expiryTime) ?? Number.POSITIVE_INFINITY) > nowMs,
  );
  const away =
    weights.length > 0
      ? weights.filter(([, weight]) => weight === 0).map(([id]) => id)
      : applied.map(({ awayFrom }) => String(awayFrom));
  return [...new Set(away)].sort().map((zoneId) => shiftOf(zoneId, applied));
}

function shiftOf(zoneId: string, applied: readonly AppliedShift[]): Shift {
  const { startTime, expiryTime, zonalShiftId } = applied.find(({ awayFrom }) => awayFrom === zoneId) ?? {};
  const id = typeof zonalShiftId === 'string' ? zonalShiftId.slice(0, 40) : undefined;
  return {
    zoneId,
    sinceMs: msOf(startTime),
    untilMs: msOf(expiryTime),
    by: id === undefined ? 'ARC autoshift' : `ARC shift ${id}`,
  };
}

/** Every field may be missing or of another type. */
interface Answer {
  readonly appliedWeights?: { readonly [zoneId: string]: unknown };
  readonly zonalShifts?: readonly AppliedShift[];
  readonly autoshifts?: readonly AppliedShift[];
}

interface AppliedShift {
  readonly appliedStatus?: unknown;
  readonly awayFrom?: unknown;
  /** Seconds since the epoch. */
  readonly startTime?: unknown;
  readonly expiryTime?: unknown;
  readonly zonalShiftId?: unknown;
}

const msOf = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * 1000 : undefined;
