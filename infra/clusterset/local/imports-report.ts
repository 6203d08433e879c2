/**
 * Prints a line when a cluster has a new import, when an import's sources change, and when an import is
 * deleted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connections } from '#infra/local/clusters/connection-files.ts';
import { httpsClusterApi } from '#shared/clusters/api/https.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { annotationDerivedService } from '#shared/clusterset/contract/clusterset-names.ts';
import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import {
  importsManagedBy,
  labelMcsService,
  labelSliceManagedBy,
  labelSourceCluster,
} from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';

export interface ReportOptions {
  readonly connections: Connections;
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

const everyMs = 2_000;
/** Number of lines printed at once. */
const maxLines = 12;

/** Polls the clusters until the signal aborts. */
export async function reportImports({ connections, print, signal }: ReportOptions): Promise<void> {
  const apis = Object.entries(connections).map(([id, connection]) => ({
    id,
    api: httpsClusterApi(connection, { fieldManager: 'fleet-endpoints-start' }),
  }));
  const looks = new Map<string, Polled>();
  while (!signal.aborted) {
    const lines = await Promise.all(
      apis.map(async ({ id, api }) => {
        // If the cluster does not answer, or does not serve the kind yet, its former state stays.
        const imports = await importsIn(api).catch(() => undefined);
        if (!imports) return [];
        const before = looks.get(id) ?? { seen: [], printed: [] };
        const look = nextPolled(before, importStates(id, imports));
        looks.set(id, look);
        return changedLines(before.printed, look.printed);
      }),
    );
    const all = signal.aborted ? [] : lines.flat();
    for (const line of all.slice(0, maxLines)) print(line);
    if (all.length > maxLines)
      print(`and ${all.length - maxLines} more imports (kubectl get serviceimports -A)`);
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
  for (const { api } of apis) api.close();
}

export interface ImportLine {
  /** Namespace, name and cluster. */
  readonly key: string;
  /** Addresses and sources, without the numbers of endpoints. A change of this text prints a new line. */
  readonly stands: string;
  readonly text: string;
}

export interface ImportedObjects {
  readonly imports: readonly ServiceImport[];
  readonly slices: readonly EndpointSlice[];
}

async function importsIn(api: ClusterApi): Promise<ImportedObjects> {
  const labels = { [labelSliceManagedBy]: importsManagedBy };
  const [imports, slices] = await Promise.all([
    api.list('ServiceImport', ''),
    api.list('EndpointSlice', '', { labels }),
  ]);
  return { imports: imports.items, slices: slices.items };
}

export function importStates(cluster: string, { imports, slices }: ImportedObjects): readonly ImportLine[] {
  return imports.map(({ metadata: { namespace = '', name, annotations }, spec }) => {
    const own = slices.filter(
      (s) => s.metadata.namespace === namespace && s.metadata.labels?.[labelMcsService] === name,
    );
    const counts = endpointsBySource(own);
    const sources = [...counts.keys()].sort();
    const at = spec.type === 'Headless' ? 'headless' : (spec.ips ?? []).join(', ');
    const derived = annotations?.[annotationDerivedService] ?? '';
    return {
      key: `${namespace}/${name} in ${cluster}`,
      stands: [at, ...sources].join(' '),
      text: `${namespace}/${name} in ${cluster} (${[at, derived].filter(Boolean).join(', ')}): ${
        sources.map((source) => `${counts.get(source)} of ${source}`).join(', ') || 'no endpoints'
      }`,
    };
  });
}

/**
 * Returns the number of endpoints of each source. A dual-stack pod is an endpoint of two slices, and counts
 * once.
 */
function endpointsBySource(slices: readonly EndpointSlice[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [source, own] of Map.groupBy(slices, (s) => s.metadata.labels?.[labelSourceCluster] ?? '')) {
    const byFamily = Map.groupBy(own, (s) => s.addressType);
    counts.set(
      source,
      Math.max(
        ...[...byFamily.values()].map((slices) =>
          slices.reduce((sum, s) => sum + (s.endpoints?.length ?? 0), 0),
        ),
      ),
    );
  }
  return counts;
}

export interface Polled {
  readonly seen: readonly ImportLine[];
  /** The imports as they were last printed. */
  readonly printed: readonly ImportLine[];
}

/**
 * An import is printed when two polls in a row find the same state. While an import is being set up, each
 * poll finds another source.
 */
export function nextPolled({ seen, printed }: Polled, now: readonly ImportLine[]): Polled {
  const find = (lines: readonly ImportLine[], key: string) => lines.find((line) => line.key === key);
  return {
    seen: now,
    printed: now.flatMap((line) =>
      find(seen, line.key)?.stands === line.stands ? line : (find(printed, line.key) ?? []),
    ),
  };
}

export function changedLines(before: readonly ImportLine[], now: readonly ImportLine[]): readonly string[] {
  const come = now
    .filter(({ key, stands }) => before.find((b) => b.key === key)?.stands !== stands)
    .map(({ text }) => `import: ${text}`);
  const gone = before
    .filter(({ key }) => !now.some((n) => n.key === key))
    .map(({ key }) => `import gone: ${key}`);
  return [...come, ...gone];
}
