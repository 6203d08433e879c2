/**
 * Own lists: when a relay's list would remove much, sweep reads the list from the cluster itself. It sends
 * the list through ingest like any other, in a session of its own. While the relay of a source of imports is
 * silent and its API answers, each run reads its Pods so.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { clearOwnListRequest } from '#shared/clusters/relay/first-lists.ts';
import { recordRead } from '#shared/clusters/relay/relay-state.ts';
import { bindOwnSession } from '#shared/clusters/relay/sessions.ts';
import { concurrentlyToEnd } from '#shared/concurrently.ts';
import type { Limits } from '#shared/contract/limits.ts';
import { encodeNotReady } from '#shared/kube/projection/not-ready.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { InputKind, Pod } from '#shared/kube/types.ts';
import { encodeParts, type ListHeader } from '#shared/queue/list-parts.ts';
import { type InputEntry, maxProjectionSize, messageVersion } from '#shared/queue/messages.ts';
import { versionOf } from '#shared/store/version.ts';
import { endAtMs, type SweepDeps } from './sweep-deps.ts';
import { rotated } from './sweep-run.ts';

/**
 * Sends the requested lists. A kind that fails delays no other kind. Rejects with the first error in the end.
 */
export async function sendOwnLists(deps: SweepDeps, cluster: ClusterRecord): Promise<void> {
  // A kind may take the whole time of a run, so another kind is the first in each minute.
  await concurrentlyToEnd(1, rotated(cluster.lists.ownListsWanted, deps.now()), (kind) =>
    sendOwnList(deps, cluster, kind),
  );
}

export async function sendOwnList<K extends InputKind>(
  deps: SweepDeps,
  cluster: ClusterRecord,
  kind: K,
): Promise<void> {
  const { resourceVersion, entries } = await list(deps, cluster, kind);
  const session = `sweep-${deps.newId()}`;
  await bindOwnSession(deps.table, cluster, session, deps.now());
  const version = versionOf(cluster.incarnation, resourceVersion);
  await recordRead(deps.table, cluster, { [kind]: version });
  const header = {
    v: messageVersion,
    cluster: cluster.id,
    session,
    uid: cluster.uid,
    firstListVersion: resourceVersion,
  };
  const bodies = bodiesOf({ header, kind, asOf: resourceVersion, listId: session }, entries, deps.limits);
  await deps.queues(cluster.id, cluster.queues).events.send(bodies.map((body) => ({ body })));
  await clearOwnListRequest(deps.table, cluster.id, kind, version);
  deps.log.info('full list read from the cluster and queued', {
    cluster: cluster.id,
    kind,
    objects: entries.length,
  });
}

/** Bytes of an entry besides its projection. */
const entryBytes = 200;
/**
 * Half a million pods are some 200 MB. An endless list of one API server must not take the memory of a run
 * that all clusters share.
 */
const maxListBytes = 256 << 20;

/** Timeout of a page of a list, ms: it takes longer than other calls. */
const pageMs = 15_000;

async function list<K extends InputKind>(
  deps: SweepDeps,
  cluster: ClusterRecord,
  kind: K,
): Promise<{ readonly resourceVersion: string; readonly entries: readonly InputEntry[] }> {
  const api = await deps.cluster(cluster);
  const leftMs = endAtMs(deps) - deps.now();
  const signal = Number.isFinite(leftMs) ? AbortSignal.timeout(Math.max(1, Math.floor(leftMs))) : undefined;
  let bytes = 0;
  try {
    const { resourceVersion, items } = await api.list(kind, '', {
      timeoutMs: pageMs,
      ...(signal && { signal }),
      keep: (object): InputEntry => {
        const { namespace = '', name, resourceVersion = '0' } = object.metadata;
        const projection = encodeProjection(kind, object as never);
        const notReady = kind === 'Pod' ? encodeNotReady(object as Pod) : undefined;
        bytes += entryBytes + Buffer.byteLength(projection) + (notReady?.length ?? 0);
        if (bytes > maxListBytes)
          throw new Error(
            `the list of every ${kind} has more than ${maxListBytes} bytes: sweep makes none that is larger`,
          );
        return { namespace, name, resourceVersion, projection, ...(notReady && { notReady }) };
      },
    });
    return { resourceVersion, entries: [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
  } catch (error) {
    // The list would take too long in every run, so the run fails, and its alarm shows it.
    if (signal?.aborted)
      throw new Error(`the list of every ${kind} takes longer than a run of sweep: ${String(error)}`, {
        cause: error,
      });
    throw error;
  }
}

/** A page names the objects that are too large to be sent: without their names it would delete them. */
function bodiesOf(
  list: ListHeader & { readonly kind: InputKind },
  entries: readonly InputEntry[],
  limits: Limits,
): readonly string[] {
  const { pageSize } = limits.relay;
  const most = maxProjectionSize[list.kind];
  const listed = entries.map((entry) => ({
    key: keyOf(entry),
    entry: Buffer.byteLength(entry.projection ?? '') > most ? undefined : entry,
  }));
  const bodies: string[] = [];
  for (let i = 0, from = ''; i === 0 || i < listed.length; i += pageSize) {
    const page = listed.slice(i, i + pageSize);
    const to = i + pageSize < listed.length ? (page.at(-1)?.key ?? '') : '';
    bodies.push(...encodeParts(list, page, { from, to, first: bodies.length }, limits).bodies);
    from = to;
  }
  return bodies;
}

const keyOf = ({ namespace, name }: InputEntry): string => `${namespace}/${name}`;
