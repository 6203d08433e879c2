/** Pods of hostile exporters, as ten imports at once read them. */
import { decodeExportedPods, encodeExportedPods } from '#shared/clusterset/exports/exported-pods.ts';
import { readExportedPods, saveExportedPods, textOf } from '#shared/clusterset/store/exported-pods-record.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import type { Pod } from '#shared/kube/types.ts';
import { service } from '#test/clusterset/support/set-objects.ts';
import { memoryTable } from '../support/memory/table-memory.ts';

const exports = Array.from({ length: 10 }, (_, i) => ({ cluster: 'b', namespace: 'shop', name: `web-${i}` }));

/** The pods are within the bounds of an export. */
export async function podsOfOneSource(count: number, podOf: (i: number) => Pod): Promise<void> {
  const { sync, pods } = defaultLimits;
  const table = memoryTable();
  for (const key of exports) {
    const text = encodeExportedPods({
      service: service() as never,
      pods: Array.from({ length: count }, (_, i) => podOf(i)),
      nodes: new Map(),
    });
    const saved = await saveExportedPods(table, key, {
      text,
      incarnation: 1,
      before: undefined,
      maxBytes: sync.savedBytes,
    });
    if (saved === 'overtaken' || !saved.isWhole || text.length > pods.maxExportedBytes)
      throw new Error(`${text.length} bytes of pods are above a bound of an export`);
  }
  const read = await Promise.all(
    exports.map(async (key) => {
      const stored = await readExportedPods(table, key);
      return decodeExportedPods(key.namespace, key.name, (stored && textOf(stored)) ?? '');
    }),
  );
  if (read.some(({ pods: of }) => of.length !== count)) throw new Error('pods of an export are missing');
}
