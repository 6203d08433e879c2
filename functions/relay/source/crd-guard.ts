/**
 * Distinguishes a ServiceExport that its owner deleted from one that was deleted with its CRD (MC-52). When a
 * CRD is deleted, the API server deletes all of its objects, one after the other, and serves the kind
 * meanwhile. The owners did not ask for that, so exports stay as they are, as for a missing kind.
 */
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { resources } from '#shared/clusters/api/resources.ts';
import { parseStatus, statusError } from '#shared/clusters/api/status.ts';
import type { HttpTransport } from '#shared/clusters/api/transport.ts';
import { mcsGroup } from '#shared/kube/names.ts';
import type { Kind, ObjectMeta } from '#shared/kube/types.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { isRefused } from '../runtime/relay-errors.ts';
import type { KubeObject, WatchSource } from './watch-source.ts';

/** Exports must not be lost with their CRD. Imports may be: the hub makes them again. */
const guarded = 'ServiceExport' satisfies Kind;
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${resources[guarded].plural}.${mcsGroup}`;

/** The kind counts as missing from the time when its CRD is to be deleted. */
export function crdGuard(source: WatchSource, transport: HttpTransport, log: Log): WatchSource {
  let isLogged = false;

  /** Asked after the objects were read: as long as the CRD stays, none of them has gone with it. */
  async function assertStays(signal: AbortSignal): Promise<void> {
    let goes = false;
    try {
      goes = await isCrdGoing(transport, signal);
    } catch (e) {
      if (!isRefused(e)) throw e;
      if (!isLogged)
        log.warn(
          'not authorised: get customresourcedefinitions: exports deleted with their CRD count as withdrawn',
          { error: e },
        );
      isLogged = true;
    }
    if (goes)
      throw new ClusterApiError(`the CRD of ${guarded} is being deleted, and its objects with it`, {
        status: 404,
      });
  }

  return {
    identity: (signal) => source.identity(signal),
    version: (signal) => source.version(signal),

    async list(kind, page, signal) {
      const read = await source.list(kind, page, signal);
      if (kind === guarded) await assertStays(signal);
      return read;
    },

    async *watch(kind, resourceVersion, signal) {
      for await (const event of source.watch(kind, resourceVersion, signal)) {
        const goes = event.type === 'DELETED' || (event.type === 'MODIFIED' && isToBeDeleted(event.object));
        if (goes && kind === guarded) await assertStays(signal);
        yield event;
      }
    },
  };
}

const isToBeDeleted = ({ metadata }: KubeObject): boolean =>
  (metadata as ObjectMeta).deletionTimestamp !== undefined;

async function isCrdGoing(transport: HttpTransport, signal: AbortSignal): Promise<boolean> {
  const answer = await transport.request('GET', crdPath, { signal, idempotent: true });
  const text = answer.body.toString();
  // An API server without any CRDs, such as the embedded one, has the kind from elsewhere.
  if (answer.status === 404) return parseStatus(text)?.details?.kind === 'customresourcedefinitions';
  if (answer.status !== 200) throw statusError(answer);
  return (JSON.parse(text) as { readonly metadata?: ObjectMeta }).metadata?.deletionTimestamp !== undefined;
}
