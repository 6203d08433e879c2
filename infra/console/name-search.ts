/** Finds clusters and services of the whole hub by parts of their names. */
import { readServices } from '#infra/cli/ask/lists/list-services.ts';
import { naturalOrder } from '#infra/cli/terminal/natural-order.ts';
import { listClusters } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import type { Table } from '#shared/store/table.ts';
import type { FoundName, SearchAnswer } from './api-types.ts';

/** The names of a large fleet are thousands of reads, so they are kept. */
const keptMs = 60_000;
const maxFound = 20;

export function nameSearch(now: () => number) {
  let kept: { readonly untilMs: number; readonly names: Promise<readonly FoundName[]> } | undefined;

  function names(table: Table): Promise<readonly FoundName[]> {
    if (kept && now() < kept.untilMs) return kept.names;
    const reading = { untilMs: now() + keptMs, names: readNames(table) };
    kept = reading;
    reading.names.catch(() => {
      if (kept === reading) kept = undefined;
    });
    return reading.names;
  }

  /** Returns the names that have every word of the text, in any order and case. Clusters come first. */
  return async (table: Table, text: string): Promise<SearchAnswer> => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return { found: [], more: 0 };
    const found = (await names(table)).filter((name) => {
      const of = textOf(name).toLowerCase();
      return words.every((word) => of.includes(word));
    });
    return { found: found.slice(0, maxFound), more: Math.max(0, found.length - maxFound) };
  };
}

const textOf = ({ cluster, namespace, service }: FoundName): string =>
  service === undefined ? cluster : `${cluster} ${namespace}/${service}`;

async function readNames(table: Table): Promise<readonly FoundName[]> {
  const clusters = [...(await listClusters(table))].sort(naturalOrder);
  const services = await concurrently(8, clusters, async (cluster) =>
    (await readServices(table, cluster)).map(
      ({ metadata }): FoundName => ({ cluster, namespace: metadata.namespace ?? '', service: metadata.name }),
    ),
  );
  return [...clusters.map((cluster): FoundName => ({ cluster })), ...services.flat()];
}
