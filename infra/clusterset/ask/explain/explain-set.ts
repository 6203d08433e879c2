/**
 * Explains a name that clusters of a set export (MC-95): its exporters, its importers, and the endpoints of
 * each source.
 */

import type { ImporterExplanation, SourceExplanation } from '#infra/cli/ask/explain/explanation.ts';
import type { ExplainedSet } from '#infra/cli/ask/explain/input.ts';
import { hasLeft } from '#shared/clusters/writer/mode.ts';
import { type MergedExports, mergeExports } from '#shared/clusterset/exports/merge.ts';
import { exposedPorts } from '#shared/clusterset/exports/merge-ports.ts';
import type { ImportHints } from '#shared/clusterset/imports/import-hints.ts';
import type { ImportSource } from '#shared/clusterset/imports/imported-slices.ts';
import type { Importer } from '#shared/clusterset/imports/locality-hints.ts';
import { type PreviewedImport, previewImport } from '#shared/clusterset/imports/preview.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { parseCidr } from '#shared/kube/cidr.ts';
import { partState } from '#shared/workqueue/rules/item.ts';
import { explainSourcePods, gonePods } from './imported-pods.ts';
import { importerStatus } from './importer-status.ts';
import { exportFacts, importFacts } from './set-facts.ts';
import type { ImporterInput, SetInput, SourceInput } from './set-input.ts';
import { sourceStatus } from './source-status.ts';

/** Returns undefined if the cluster neither exports the name nor has or could have an import of it. */
export function explainSet(input: SetInput): ExplainedSet | undefined {
  const { cluster, serviceExport, publishedExports, winner } = input;
  const own = input.importers.find((i) => i.record.id === cluster.id);
  const merged = mergeExports(
    publishedExports.filter(({ cluster: id }) =>
      input.sources.some(({ record }) => record.id === id && !hasLeft(record)),
    ),
    winner,
  );
  const imports = own && (merged || own.serviceImport) ? importerOf(input, own, merged) : undefined;
  if (!serviceExport && !imports) return undefined;
  const { sources, hinted } = sourcesOf(input, merged);
  const importers = input.importers.map((importer) => importerOf(input, importer, merged));
  const exporting = serviceExport && exportFacts(input, merged, { importers, sources });
  return {
    set: {
      set: membershipOf(cluster).set,
      sources,
      importers,
      conflicts: merged?.conflicts.map((c) => `${c.reason}: ${c.message}`) ?? [],
      leftOut: own?.report?.report.leftOut ?? [],
    },
    groups: [
      ...(exporting ? [{ title: 'Export', facts: exporting.facts }] : []),
      ...(imports && own
        ? [{ title: 'Import', facts: importFacts(input, own, imports, { merged, hinted }) }]
        : []),
    ],
    exportSummary: exporting?.summary,
    importSummary: imports && importSummary(input.name, imports, sources),
    preview: membershipOf(cluster).imports === 'shadow' ? (own?.report?.report.preview ?? []) : [],
  };
}

function importerOf(
  { namespace, name, sources, now }: SetInput,
  importer: ImporterInput,
  merged: MergedExports | undefined,
): ImporterExplanation {
  const { record, work, report } = importer;
  const silent = sources
    .filter((s) => sourceStatus(s.record, now).state === 'silent')
    .map((s) => s.record.id);
  const { state, why } = importerStatus({
    record,
    namespaceName: namespace,
    namespace: importer.namespace,
    isExported: merged !== undefined,
    report: report?.report,
    dirtySinceMs: work.dirtyAtMs,
    failures: partState(work, 'import').failures,
    ranAtMs: work.ranAtMs,
    silent,
    now,
  });
  return {
    cluster: record.id,
    state,
    why:
      importer.serviceImport || state !== 'imported'
        ? why
        : `${why}; its relay has not reported the ServiceImport ${name}`,
  };
}

interface ExplainedSources {
  readonly sources: readonly SourceExplanation[];
  readonly hinted: ImportHints['why'];
}

/** Returns the sources in the order of precedence. A silent source has its last known endpoints. */
function sourcesOf(input: SetInput, merged: MergedExports | undefined): ExplainedSources {
  if (!merged) return { sources: [], hinted: undefined };
  const { cluster, namespace, name, zones, now } = input;
  const { set } = membershipOf(cluster);
  const known = merged.clusters.flatMap(
    (cluster) => input.sources.find((s) => s.record.id === cluster) ?? [],
  );
  const held = new Set(input.importers.flatMap((i) => i.report?.report.held ?? []));
  const isGone = ({ record }: SourceInput): boolean =>
    sourceStatus(record, now).state === 'evicted' && !held.has(record.id);
  const asImported = known.map((source): ImportSource => {
    const { record } = source;
    const exported = isGone(source) ? undefined : source.exported;
    const podCidrs = membershipOf(record).exports.podCidrs?.flatMap((text) => parseCidr(text) ?? []);
    return {
      cluster: record.id,
      state: exported ? 'fresh' : 'silent',
      podCidrs,
      ...(exported && { exported }),
    };
  });
  const { maxEndpointsPerSlice } = cluster.settings;
  const importer: Importer = { cluster: cluster.id, zones };
  const preview: PreviewedImport = previewImport({
    namespace,
    name,
    set,
    merged,
    sources: asImported,
    importer,
    maxEndpointsPerSlice,
  });
  const sources = known.map((source): SourceExplanation => {
    const status = sourceStatus(source.record, now);
    const pods = isGone(source) ? gonePods(source) : explainSourcePods({ source, merged, preview });
    const listed = pods.filter((p) => p.place !== 'absent');
    const why = source.exported
      ? status.why
      : `${status.why}; its Service no longer selects pods, so its export will become invalid`;
    const ports = exposedPorts(source.exported?.service.spec?.ports, merged.spec.ports).map(
      (p) => `${p.name ? `${p.name} ` : ''}${p.port}/${p.protocol ?? 'TCP'}`,
    );
    const count = (sources: readonly { readonly addresses: readonly string[] }[]): number =>
      sources.reduce((n, p) => n + p.addresses.length, 0);
    return {
      cluster: source.record.id,
      state: status.state,
      why,
      addresses: count(listed),
      ready: count(listed.filter((p) => p.place === 'ready')),
      ports: ports.join(', ') || 'none',
      pods,
    };
  });
  return { sources, hinted: preview.slices.hinted };
}

function importSummary(
  name: string,
  { state, why }: ImporterExplanation,
  sources: readonly SourceExplanation[],
): string {
  const addresses = sources.reduce((n, s) => n + s.addresses, 0);
  const ready = sources.reduce((n, s) => n + s.ready, 0);
  const from = sources.map((s) => s.cluster).join(' and ');
  if (sources.length === 0) return `Import of ${name}: ${why}.`;
  const what =
    state === 'imported'
      ? whatIsServed(sources)
      : `${ready} of ${addresses} addresses of ${from} are to be ready`;
  const words = {
    imported: 'imported',
    pending: 'import under way',
    preview: 'preview of an import',
    refused: 'import refused',
    'left out': 'not imported',
  } as const;
  return `${capital(words[state])}: ${what}; ${why}.`;
}

/** Slices of a source that is silent stay as the last run wrote them, and the snapshot does not have these. */
function whatIsServed(sources: readonly SourceExplanation[]): string {
  const followed = sources.filter((s) => s.state === 'fresh');
  const others = sources.filter((s) => s.state !== 'fresh');
  const sum = (sources: 'ready' | 'addresses'): number => followed.reduce((n, s) => n + s[sources], 0);
  const names = followed.map((s) => s.cluster).join(' and ');
  return [
    ...(followed.length > 0
      ? [
          `${sum('ready')} of ${sum('addresses')} addresses of ${names} ${sum('ready') === 1 ? 'is' : 'are'} ready`,
        ]
      : []),
    ...others.map((s) => `${s.cluster} is ${s.state}: ${s.why}`),
  ].join('; ');
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
