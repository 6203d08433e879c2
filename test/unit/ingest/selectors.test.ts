import { expect, it } from 'vitest';
import { freshCaches } from '#functions/ingest/batch/warm-caches.ts';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, type IngestHub, ingestHub } from './hub.ts';

/** Label-like pairs of some `bytes` in all, each a text of its own. */
const labels = (bytes: number, of: string): { [key: string]: string } =>
  Object.fromEntries(
    Array.from({ length: Math.ceil(bytes / 130) }, (_, i) => [
      `${of}-${i}-`.padEnd(63, 'k'),
      `${of}-${i}-`.padEnd(63, 'v'),
    ]),
  );

const named = (name: string, bytesOfLabels: number) => {
  const plain = service();
  return { ...plain, metadata: { ...plain.metadata, name, uid: name, labels: labels(bytesOfLabels, name) } };
};

/** The bytes of the largest answer of the table from now on. */
function largestAnswer({ table }: IngestHub): () => number {
  let largest = 0;
  const { query } = table;
  Object.assign(table, {
    async query(...args: Parameters<typeof query>) {
      const items = await query(...args);
      largest = Math.max(
        largest,
        items.reduce((sum, item) => sum + itemSize(item), 0),
      );
      return items;
    },
  });
  return () => largest;
}

it('a change of a pod reads large Services in pages, and keeps their names and selectors alone', async () => {
  const hub = await ingestHub();
  const many = Array.from({ length: 120 }, (_, i) => named(`s-${String(i).padStart(3, '0')}`, 235_000));
  for (const [i, s] of many.entries())
    await hub.ingest(hub.live('Service', 5 + i, entry('Service', 5 + i, s)));
  hub.woken();
  const largest = largestAnswer(hub);
  await hub.ingest(hub.live('Pod', 1_000, entry('Pod', 1_000, pod('p'))));
  expect(hub.woken().map((m) => m.name)).toEqual(many.map((s) => s.metadata.name));
  expect(largest()).toBeLessThan(8 * 2 ** 20);
  const { selectors } = hub.deps.caches;
  const kept = selectors.keys().map((key) => JSON.stringify(selectors.get(key)).length);
  expect(kept).toHaveLength(1);
  expect(Math.max(...kept)).toBeLessThan(120 * 200);
});

it('selectors of more bytes than a worker keeps are read again for each batch, and its Services are woken', async () => {
  const hub = await ingestHub();
  const ingest = { ...defaultLimits.ingest, maxSelectorBytes: 20_000 };
  const deps = { ...hub.deps, caches: freshCaches(ingest), limits: { ...defaultLimits, ingest } };
  const apply = (message: object) =>
    ingestBatch(deps, 'c', [{ messageId: 'm', sentAtMs: hub.clock.now, body: encodeMessage(message) }]);
  const large = { ...named('large', 0), spec: { selector: labels(50_000, 'x') } };
  await apply(hub.live('Service', 5, entry('Service', 5, large)));
  await apply(hub.live('Service', 6, entry('Service', 6, named('small', 0))));
  await apply(hub.live('Pod', 7, entry('Pod', 7, pod('p'))));
  hub.woken();
  expect(deps.caches.selectors.keys()).toEqual([]);
  await apply(hub.live('Pod', 8, entry('Pod', 8, pod('p', { ready: false }))));
  expect(hub.woken().map((m) => m.name)).toEqual(['small']);
});
