/** The outputs of the cluster's own controllers (shadow mode), as the relay saw them or the hub wrote them before. */
import type { OutputRecord } from './output-items.ts';

const keyOf = ({ kind, name }: OutputRecord): string => `${kind} ${name}`;

/**
 * Returns of each output the newer state. After a switch from active to shadow, an output that nobody changed
 * is as the hub wrote it. The hub's deletions are left to lists: a restored cluster has older objects again.
 */
export function newestOutputs(
  observed: readonly OutputRecord[],
  written: readonly OutputRecord[],
): readonly OutputRecord[] {
  const newest = new Map(observed.map((output) => [keyOf(output), output]));
  for (const output of written.filter((o) => o.object || o.isMetadataOnly)) {
    const other = newest.get(keyOf(output));
    if (!other || other.version < output.version) newest.set(keyOf(output), output);
  }
  return [...newest.values()];
}
