/** A list that would take much away is made again by ourselves, and sent through ingest like any other, marked as confirmed. */

import { clearOwnListRequest } from '#shared/clusters/first-lists.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { bindOwnSession } from '#shared/clusters/sessions.ts';
import { type Limits, limitsOf } from '#shared/contract/limits.ts';
import { encodeProjection } from '#shared/kube/projection.ts';
import type { InputKind } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { type InputEntry, type ListPartMessage, longestProjection, messageVersion } from '#shared/queue/messages.ts';
import { endOf, type SweepDeps } from './deps.ts';

export async function confirmLists(deps: SweepDeps, meta: ClusterRecord): Promise<void> {
  for (const kind of meta.lists.ownListsWanted) await confirmList(deps, meta, kind);
}

async function confirmList<K extends InputKind>(deps: SweepDeps, meta: ClusterRecord, kind: K): Promise<void> {
  const { resourceVersion, entries } = await list(deps, meta, kind);
  const session = `sweep-${deps.newId()}`;
  await bindOwnSession(deps.table, meta, session, deps.now());
  const parts = partsOf(entries, limitsOf(deps)).map(
    (part, i): ListPartMessage => ({
      v: messageVersion,
      type: 'list',
      cluster: meta.id,
      session,
      uid: meta.uid,
      base: resourceVersion,
      kind,
      asOf: resourceVersion,
      listId: session,
      i,
      ...(part.to === '' && { last: true as const }),
      confirmed: true,
      ...part,
    }),
  );
  await deps.queues(meta.id, meta.queues).events.send(parts.map((p) => ({ body: encodeMessage(p) })));
  await clearOwnListRequest(deps.table, meta.id, kind);
  deps.log.info('full list read from the cluster and queued', { cluster: meta.id, kind, objects: entries.length });
}

/**
 * Of an entry besides its projection, and of a whole list, bytes. Half a million pods are some 200 MB; an API server that lists without an end must not
 * take the memory of the run that all clusters share.
 */
const entryBytes = 200;
const mostListBytes = 256 << 20;

async function list<K extends InputKind>(
  deps: SweepDeps,
  meta: ClusterRecord,
  kind: K,
): Promise<{ readonly resourceVersion: string; readonly entries: readonly InputEntry[] }> {
  const api = await deps.cluster(meta);
  const left = endOf(deps) - deps.now();
  const signal = Number.isFinite(left) ? AbortSignal.timeout(Math.max(1, left)) : undefined;
  let bytes = 0;
  try {
    const { resourceVersion, items } = await api.list(kind, '', {
      timeoutMs: limitsOf(deps).sweep.pageMs,
      ...(signal && { signal }),
      keep: (object): InputEntry => {
        const { namespace: ns = '', name, resourceVersion: rv = '0' } = object.metadata;
        const o = encodeProjection(kind, object as never);
        bytes += entryBytes + Buffer.byteLength(o);
        if (bytes > mostListBytes) throw new Error(`the list of every ${kind} has more than ${mostListBytes} bytes: sweep makes none that is larger`);
        return { ns, name, rv, o };
      },
    });
    return { resourceVersion, entries: [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
  } catch (error) {
    // No fault of the cluster's, and one that comes back each minute.
    if (signal?.aborted) throw new Error(`the list of every ${kind} takes longer than a run of sweep: ${String(error)}`, { cause: error });
    throw error;
  }
}

interface Range {
  readonly from: string;
  readonly to: string;
  readonly entries: readonly InputEntry[];
}

const keyOf = ({ ns, name }: InputEntry): string => `${ns}/${name}`;

/** Consecutive ranges of keys. One that is too large to be sent lies in none of them: a part that left it out would say that it does not exist. */
function partsOf(entries: readonly InputEntry[], { sweep }: Limits): readonly Range[] {
  const parts: Range[] = [];
  let from = '';
  let page: InputEntry[] = [];
  let bytes = 0;
  const close = (): void => {
    const last = page.at(-1);
    if (!last) return;
    parts.push({ from, to: keyOf(last), entries: page });
    from = keyOf(last);
    page = [];
    bytes = 0;
  };
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.o ?? '');
    if (size > longestProjection) {
      close();
      from = keyOf(entry);
      continue;
    }
    if (page.length === sweep.entriesPerPart || bytes + size > sweep.bytesPerPart) close();
    page.push(entry);
    bytes += size;
  }
  return [...parts, { from, to: '', entries: page }];
}
