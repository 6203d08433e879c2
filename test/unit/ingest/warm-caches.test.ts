import { expect, it } from 'vitest';
import { freshCaches, LruCache } from '#functions/ingest/batch/warm-caches.ts';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, ingestHub } from './hub.ts';

it('the least recently used value is dropped first, by weight', () => {
  const kept = new LruCache<number>(10, (n) => n);
  kept.set('a', 4);
  kept.set('b', 4);
  kept.get('a');
  kept.set('c', 4);
  expect(kept.keys()).toEqual(['a', 'c']);
  kept.set('a', 1);
  kept.set('d', 5);
  expect(kept.keys()).toEqual(['c', 'a', 'd']);
});

it('a value above the limit of the cache is kept until the next', () => {
  const kept = new LruCache<number>(10, (n) => n);
  kept.set('a', 4);
  kept.set('large', 99);
  expect(kept.keys()).toEqual(['large']);
  kept.set('b', 1);
  expect(kept.keys()).toEqual(['b']);
});

it('a warm worker of a fleet keeps a bounded number of services, namespaces and sessions, and still wakes whom it should', async () => {
  const hub = await ingestHub();
  const ingest = {
    ...defaultLimits.ingest,
    maxSelectorBytes: 4_000,
    maxNamespacesKept: 10,
    maxSessionsKept: 3,
  };
  const deps = { ...hub.deps, caches: freshCaches(ingest) };
  const apply = (message: object) =>
    ingestBatch(deps, 'c', [{ messageId: 'm', sentAtMs: hub.clock.now, body: JSON.stringify(message) }]);
  for (let i = 0; i < 50; i++) {
    const inNamespace = { ...service(), metadata: { ...service().metadata, namespace: `ns-${i}` } };
    await apply({ ...hub.live('Service', 5, entry('Service', 5, inNamespace)), session: `s${i}` });
    await apply({
      ...hub.live('Pod', 6, entry('Pod', 6, pod('p', { namespace: `ns-${i}` }))),
      session: `s${i}`,
    });
  }
  expect(deps.caches.selectors.keys().length).toBeLessThanOrEqual(5);
  expect(deps.caches.namespaces.keys().length).toBeLessThanOrEqual(10);
  expect(deps.caches.sessions.keys().length).toBeLessThanOrEqual(3);
  hub.woken();
  await apply(hub.live('Pod', 7, entry('Pod', 7, pod('p', { namespace: 'ns-0', ready: false }))));
  expect(hub.woken().map((m) => m.namespace)).toEqual(['ns-0']);
});
