import type { ServerResponse } from 'node:http';
import { kindFacts, type RawObject } from './api-kinds.ts';
import { badRequest, Refusal } from './failure.ts';
import type { StoreEvent } from './history.ts';
import type { Target } from './list-selectors.ts';
import type { Store } from './store.ts';
import { tableOf } from './tables.ts';

/**
 * Writes events until the time is up or the client disconnects. After the request is parsed, every failure is
 * an event of the stream.
 */
export function watchKind(
  store: Store,
  { kind, namespace, query, table, match }: Target,
  response: ServerResponse,
): void {
  const given = query.get('resourceVersion') ?? '';
  if (!/^\d*$/.test(given)) throw badRequest(`resourceVersion: Invalid value: ${given}`);
  const initial = query.get('sendInitialEvents') === 'true';
  const fromState = initial || given === '' || given === '0';
  const start = fromState ? store.resourceVersion : Number(given);
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();

  const rendered = (object: object): object =>
    table && 'metadata' in object ? tableOf(kind, [object as RawObject], { nowMs: Date.now() }) : object;
  const send = (type: string, object: object): void => {
    const sent = type === 'BOOKMARK' || type === 'ERROR' ? object : rendered(object);
    response.write(`${JSON.stringify({ type, object: sent })}\n`);
    // A client that is too far behind is disconnected.
    if (response.writableLength > 64e6) response.destroy();
  };
  const bookmark = (annotations = {}): void => {
    const metadata = { resourceVersion: String(store.resourceVersion), annotations };
    if (query.get('allowWatchBookmarks') === 'true')
      send('BOOKMARK', { kind, apiVersion: kindFacts[kind].apiVersion, metadata });
  };
  const deliver = ({ object, previous, type, resourceVersion }: StoreEvent): void => {
    if (resourceVersion <= start || (namespace && object.metadata.namespace !== namespace)) return;
    const before = type !== 'ADDED' && previous !== undefined && match(previous);
    const after = type !== 'DELETED' && match(object);
    if (after) send(before ? 'MODIFIED' : 'ADDED', object);
    // An object that no longer matches is reported as deleted, in its former state.
    else if (before)
      send('DELETED', {
        ...previous,
        metadata: { ...previous.metadata, resourceVersion: object.metadata.resourceVersion },
      });
  };

  let stop: () => void;
  try {
    if (fromState) for (const object of store.list(kind, namespace).filter(match)) send('ADDED', object);
    stop = store.watch(kind, deliver, Math.min(start, store.resourceVersion));
  } catch (e) {
    if (!(e instanceof Refusal)) throw e;
    send('ERROR', e.body);
    return void response.end();
  }
  if (initial) bookmark({ 'k8s.io/initial-events-end': 'true' });
  const lastsMs = (Number(query.get('timeoutSeconds')) || 1800) * 1000;
  const bookmarks = [
    setInterval(bookmark, 60_000),
    setTimeout(bookmark, Math.max(lastsMs - 2000, lastsMs / 2)),
  ];
  const timers = [...bookmarks, setTimeout(() => response.end(), lastsMs)];
  response.once('close', () => {
    stop();
    for (const timer of timers) clearTimeout(timer);
  });
}
