/**
 * The Lease (coordination.k8s.io/v1) that relays of one cluster share: the only thing in the cluster that a
 * relay may write.
 */
import { type ClusterApiError, isConflict, isNotFound } from '#shared/clusters/api/errors.ts';
import { statusError } from '#shared/clusters/api/status.ts';
import type { HttpTransport } from '#shared/clusters/api/transport.ts';
import { isResourceVersion } from '#shared/kube/resource-version-text.ts';
import { MalformedAnswer } from '../source/watch-source.ts';
import type { Lease } from './lease.ts';

export type LeaseContent = Omit<Lease, 'resourceVersion'>;

/** Every call rejects with a ClusterApiError, or with MalformedAnswer. */
export interface LeaseStore {
  /** Undefined when there is no Lease. */
  read(signal: AbortSignal): Promise<Lease | undefined>;
  /**
   * Replaces the Lease `over`, or creates one if that is undefined. `taken`: the holder changes. Resolves to
   * undefined on a conflict.
   */
  write(
    content: LeaseContent,
    over: Lease | undefined,
    taken: boolean,
    signal: AbortSignal,
  ): Promise<Lease | undefined>;
}

export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

export function httpLeaseStore(
  transport: HttpTransport,
  { namespace, name }: LeaseName,
  now: () => number,
  timeoutMs: number,
): LeaseStore {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const path = `${collection}/${encodeURIComponent(name)}`;
  // A renewal keeps fields that others have added, and the time of acquisition.
  let last: WireLease | undefined;

  const parse = (body: Buffer): Lease => {
    last = JSON.parse(body.toString()) as WireLease;
    return leaseOf(last);
  };

  return {
    async read(signal) {
      const answer = await transport.request('GET', path, { timeoutMs, signal, idempotent: true });
      if (answer.status === 200) return parse(answer.body);
      const error = statusError(answer);
      if (isNotFound(error)) return undefined;
      throw error;
    },

    async write(content, over, taken, signal) {
      const body = JSON.stringify(
        wireOf(
          { namespace, name },
          content,
          { over, last: over && last, taken },
          new Date(now()).toISOString(),
        ),
      );
      const answer = await transport.request(over ? 'PUT' : 'POST', over ? path : collection, {
        timeoutMs,
        signal,
        body,
        idempotent: true,
      });
      if (answer.status === 200 || answer.status === 201) return parse(answer.body);
      const error = statusError(answer);
      if (isOvertaken(error, over)) return undefined;
      throw error;
    },
  };
}

/** 404: the Lease was deleted meanwhile. For a POST the namespace is missing, which stays an error. */
const isOvertaken = (error: ClusterApiError, over: Lease | undefined): boolean =>
  isConflict(error) || error.reason === 'AlreadyExists' || (over !== undefined && isNotFound(error));

interface WireLease {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly [field: string]: unknown;
  };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly leaseTransitions?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly [field: string]: unknown;
  };
}

function leaseOf({ metadata, spec }: WireLease): Lease {
  const { resourceVersion } = metadata ?? {};
  if (!isResourceVersion(resourceVersion))
    throw new MalformedAnswer(`the Lease has the resourceVersion ${JSON.stringify(resourceVersion)}`);
  return {
    holder: spec?.holderIdentity ?? '',
    durationMs: (spec?.leaseDurationSeconds ?? 0) * 1000,
    transitions: spec?.leaseTransitions ?? 0,
    resourceVersion,
  };
}

function wireOf(
  { namespace, name }: LeaseName,
  { holder, durationMs, transitions }: LeaseContent,
  {
    over,
    last,
    taken,
  }: { readonly over: Lease | undefined; readonly last: WireLease | undefined; readonly taken: boolean },
  renewTime: string,
): object {
  const time = renewTime.replace('Z', '000Z');
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...last?.metadata, namespace, name, ...(over && { resourceVersion: over.resourceVersion }) },
    spec: {
      ...last?.spec,
      // Absent and not empty, which some versions refuse.
      holderIdentity: holder === '' ? undefined : holder,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      leaseTransitions: transitions,
      acquireTime: taken ? time : (last?.spec?.acquireTime ?? time),
      renewTime: time,
    },
  };
}
