/** A list that would take much away is made again by ourselves, and sent through ingest like any other, marked as confirmed. */
import { limitsOf } from '#shared/contract/limits.ts';
import { encodeProjection } from '#shared/kube/projection.ts';
import type { InputKind } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { type ListPartMessage, messageVersion } from '#shared/queue/messages.ts';
import { confirmed, fixSession } from '#shared/snapshot/lists.ts';
import type { ClusterMeta } from '#shared/snapshot/meta.ts';
import type { SweepDeps } from './deps.ts';

export async function confirmLists(deps: SweepDeps, meta: ClusterMeta): Promise<void> {
  for (const kind of meta.toConfirm) await confirmList(deps, meta, kind);
}

async function confirmList<K extends InputKind>(deps: SweepDeps, meta: ClusterMeta, kind: K): Promise<void> {
  const { entriesPerPart } = limitsOf(deps).sweep;
  const api = await deps.cluster(meta);
  const { resourceVersion, items } = await api.list(kind, '', {
    keep: (o) => ({
      ns: o.metadata.namespace ?? '',
      name: o.metadata.name,
      rv: o.metadata.resourceVersion ?? '0',
      o: encodeProjection(kind, o as never),
    }),
  });
  const session = `sweep-${deps.newId()}`;
  await fixSession(deps.table, meta.id, session, meta.incarnation);
  const entries = [...items].sort((a, b) => (`${a.ns}/${a.name}` < `${b.ns}/${b.name}` ? -1 : 1));
  const pages = Math.max(1, Math.ceil(entries.length / entriesPerPart));
  const key = (e: { readonly ns: string; readonly name: string } | undefined): string => (e ? `${e.ns}/${e.name}` : '');
  const parts = Array.from({ length: pages }, (_, i): ListPartMessage => {
    const page = entries.slice(i * entriesPerPart, (i + 1) * entriesPerPart);
    const last = i === pages - 1;
    return {
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
      ...(last && { last: true as const }),
      confirmed: true,
      from: i === 0 ? '' : key(entries[i * entriesPerPart - 1]),
      to: last ? '' : key(page.at(-1)),
      entries: page,
    };
  });
  await deps.queues(meta.id, meta.queues).events.send(parts.map((p) => ({ body: encodeMessage(p) })));
  await confirmed(deps.table, meta.id, kind);
  deps.log.info('list confirmed by our own', { cluster: meta.id, kind, objects: entries.length });
}
