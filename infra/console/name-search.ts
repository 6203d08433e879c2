/** Finds clusters and services of the whole hub by parts of their names, and services by a pod's name or IP. */
import { readServices } from '#infra/cli/ask/lists/list-services.ts';
import { countedFleet } from '#infra/cli/ask/lists/reach-counts.ts';
import { naturalOrder } from '#infra/cli/terminal/natural-order.ts';
import { listClusters } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { withOptInSelector } from '#shared/controllers/opt-in/writer.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import { objectsIn } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';
import type { FoundName, SearchAnswer } from './api-types.ts';

/** The names of a large fleet are thousands of reads, so they are kept. */
const keptMs = 60_000;
/** Shorter parts of a pod's name would find most pods. */
const minPodText = 3;
const maxFound = 20;

export function nameSearch(now: () => number) {
  const names = keptFor(now, readNames);
  const pods = keptFor(now, readPods);

  /** Returns the names that have every word of the text, in any order and case. Clusters come first. */
  return async (table: Table, text: string): Promise<SearchAnswer> => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return { found: [], more: 0 };
    const isFound = (name: FoundName): boolean => {
      const of = textOf(name).toLowerCase();
      return words.every((word) => of.includes(word));
    };
    const named = (await names(table)).filter(isFound);
    // Pods are many more reads: they are looked for where no name is found.
    const ofPods = named.length > 0 || text.trim().length < minPodText ? [] : await pods(table);
    const found = [...named, ...ofPods.filter(isFound)];
    return { found: found.slice(0, maxFound), more: Math.max(0, found.length - maxFound) };
  };
}

/** A failed read is not kept. */
function keptFor<T>(now: () => number, read: (table: Table) => Promise<T>): (table: Table) => Promise<T> {
  let kept: { readonly untilMs: number; readonly value: Promise<T> } | undefined;
  return (table) => {
    if (kept && now() < kept.untilMs) return kept.value;
    const reading = { untilMs: now() + keptMs, value: read(table) };
    kept = reading;
    reading.value.catch(() => {
      if (kept === reading) kept = undefined;
    });
    return reading.value;
  };
}

const textOf = ({ cluster, namespace, service, pod }: FoundName): string =>
  [cluster, ...(service === undefined ? [] : [`${namespace}/${service}`]), ...(pod ? [pod] : [])].join(' ');

async function readNames(table: Table): Promise<readonly FoundName[]> {
  const clusters = [...(await listClusters(table))].sort(naturalOrder);
  const services = await concurrently(8, clusters, async (cluster) =>
    (await readServices(table, cluster)).map(
      ({ metadata }): FoundName => ({ cluster, namespace: metadata.namespace ?? '', service: metadata.name }),
    ),
  );
  return [...clusters.map((cluster): FoundName => ({ cluster })), ...services.flat()];
}

/** A larger fleet has too many pods to be read for a search. */
async function readPods(table: Table): Promise<readonly FoundName[]> {
  const clusters = [...(await listClusters(table))].sort(naturalOrder);
  if (clusters.length > countedFleet) return [];
  return (await concurrently(4, clusters, (cluster) => podsOf(table, cluster))).flat();
}

async function podsOf(table: Table, cluster: string): Promise<readonly FoundName[]> {
  const services = Map.groupBy(await readServices(table, cluster), (s) => s.metadata.namespace ?? '');
  const found = await concurrently(8, [...services], async ([namespace, inNamespace]) => {
    const pods = await objectsIn({ table, cluster }, 'Pod', namespace);
    return inNamespace.flatMap((service) => {
      const { selector } = withOptInSelector(service, 'active').spec ?? {};
      if (!selector) return [];
      return pods
        .filter(({ metadata }) => selectorMatches(selector, metadata.labels))
        .map(
          (pod): FoundName => ({
            ...{ cluster, namespace, service: service.metadata.name },
            pod: [pod.metadata.name, ...(pod.status?.podIPs ?? []).map(({ ip }) => ip)].join(' '),
          }),
        );
    });
  });
  return found.flat();
}
