/** The Lease (coordination.k8s.io/v1) that relays of one cluster share: the only thing in the cluster that a relay may write. */
import { isConflict, isNotFound } from '#shared/cluster/errors.ts';
import { statusError } from '#shared/cluster/status.ts';
import type { HttpTransport } from '#shared/cluster/transport.ts';
import { isResourceVersion } from '#shared/kube/resource-version-text.ts';
import { kinds } from '#shared/kube/types.ts';
import type { Accepted, Lease } from './lease.ts';
import { MalformedAnswer } from './watch-source.ts';

export type LeaseContent = Omit<Lease, 'resourceVersion'>;

/** Every call rejects with a ClusterApiError, or with MalformedAnswer. */
export interface LeaseStore {
  /** Undefined when there is none. */
  read(signal: AbortSignal): Promise<Lease | undefined>;
  /** `over`: what it replaces; undefined when there is to be none. Undefined when that is not so any more. `taken`: it comes from another holder. */
  write(content: LeaseContent, over: Lease | undefined, taken: boolean, signal: AbortSignal): Promise<Lease | undefined>;
}

export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

const acceptedAnnotation = 'fleet-endpoints/accepted';

/**
 * What the holder of a Lease told longer ago than this is not gone by, ms: nobody has spoken since, and meanwhile the cluster may have been taken out of
 * its hub and added again, with a queue and a snapshot that know nothing. Clocks may be apart by about as much; then a relay lists once more.
 */
const toldForMs = 30_000;

/** `now`: ms since the epoch. */
export function httpLeaseStore(transport: HttpTransport, { namespace, name }: LeaseName, now: () => number, timeoutMs: number): LeaseStore {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const path = `${collection}/${encodeURIComponent(name)}`;
  // A renewal carries what others may have added, and when the lease was taken.
  let last: WireLease | undefined;

  const parse = (body: Buffer): Lease => {
    last = JSON.parse(body.toString()) as WireLease;
    return leaseOf(last, now());
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
      const body = JSON.stringify(wireOf({ namespace, name }, content, over, over && last, taken, new Date(now()).toISOString()));
      const answer = await transport.request(over ? 'PUT' : 'POST', over ? path : collection, { timeoutMs, signal, body, idempotent: true });
      if (answer.status === 200 || answer.status === 201) return parse(answer.body);
      const error = statusError(answer);
      // 404: it was deleted meanwhile; of a POST it is the namespace, and stays an error.
      if (isConflict(error) || error.reason === 'AlreadyExists' || (over && isNotFound(error))) return undefined;
      throw error;
    },
  };
}

interface WireLease {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly annotations?: { readonly [name: string]: string };
    readonly [field: string]: unknown;
  };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly leaseTransitions?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
  };
}

function leaseOf({ metadata, spec }: WireLease, nowMs: number): Lease {
  const { resourceVersion } = metadata ?? {};
  if (!isResourceVersion(resourceVersion)) throw new MalformedAnswer(`the Lease has the resourceVersion ${JSON.stringify(resourceVersion)}`);
  return {
    holder: spec?.holderIdentity ?? '',
    durationMs: (spec?.leaseDurationSeconds ?? 0) * 1000,
    transitions: spec?.leaseTransitions ?? 0,
    resourceVersion,
    accepted: nowMs - Date.parse(spec?.renewTime ?? '') <= toldForMs ? parseAccepted(metadata?.annotations?.[acceptedAnnotation]) : undefined,
  };
}

/** Undefined for what cannot be believed: a standby that knows nothing lists. */
export function parseAccepted(text: string | undefined): Accepted | undefined {
  let given: { readonly uid?: unknown; readonly revision?: unknown; readonly versions?: { readonly [kind: string]: unknown } } | null;
  try {
    given = JSON.parse(text ?? 'null') as typeof given;
  } catch {
    return undefined;
  }
  if (typeof given?.uid !== 'string' || typeof given.revision !== 'string' || typeof given.versions !== 'object' || given.versions === null)
    return undefined;
  const { uid, revision, versions } = given;
  return {
    uid,
    revision,
    versions: Object.fromEntries(kinds.flatMap((kind) => (isResourceVersion(versions[kind]) ? [[kind, versions[kind]]] : []))),
  };
}

function wireOf(
  { namespace, name }: LeaseName,
  { holder, durationMs, transitions, accepted }: LeaseContent,
  over: Lease | undefined,
  last: WireLease | undefined,
  taken: boolean,
  renewTime: string,
): object {
  const time = renewTime.replace('Z', '000Z');
  const { [acceptedAnnotation]: _, ...others } = last?.metadata?.annotations ?? {};
  const annotations = { ...others, ...(accepted && { [acceptedAnnotation]: JSON.stringify(accepted) }) };
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...last?.metadata, namespace, name, annotations, ...(over && { resourceVersion: over.resourceVersion }) },
    spec: {
      // Absent and not empty, which some versions refuse.
      ...(holder !== '' && { holderIdentity: holder }),
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      leaseTransitions: transitions,
      acquireTime: taken ? time : (last?.spec?.acquireTime ?? time),
      renewTime: time,
    },
  };
}
