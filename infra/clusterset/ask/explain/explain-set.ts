/**
 * Explains a name that clusters of a set export (MC-95): its exporters, its importers, and the endpoints of
 * each source.
 */

import type { ImporterExplanation, SourceExplanation } from '#infra/cli/ask/explain/explanation.ts';
import type { ExplainedSet } from '#infra/cli/ask/explain/input.ts';
import { hasLeft } from '#shared/clusters/writer/mode.ts';
import { type MergedExports, mergeExports } from '#shared/clusterset/exports/merge.ts';
import { exposedPorts } from '#shared/clusterset/exports/merge-ports.ts';
import type { ImportSource } from '#shared/clusterset/imports/imported-slices.ts';
import type { Importer } from '#shared/clusterset/imports/locality-hints.ts';
import { type PreviewedImport, previewImport } from '#shared/clusterset/imports/preview.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import type { ImportReport } from '#shared/clusterset/store/import-report.ts';
import { parseCidr } from '#shared/kube/cidr.ts';
import { partState } from '#shared/workqueue/rules/item.ts';
import { importSummary } from './import-summary.ts';
import { explainSourcePods, gonePods, type SourcePod } from './imported-pods.ts';
import { importerStatus } from './importer-status.ts';
import { exportFacts, importFacts } from './set-facts.ts';
import type { ImporterInput, SetInput, SourceInput } from './set-input.ts';
import { sourceStatus } from './source-status.ts';
import { asWritten } from './written-pods.ts';

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
  const report = own?.report?.report;
  const { sources, hinted } = sourcesOf(input, merged, report);
  const importers = input.importers.map((importer) => importerOf(input, importer, merged));
  const exporting = serviceExport && exportFacts(input, merged, { importers, sources });
  return {
    set: {
      set: membershipOf(cluster).set,
      sources,
      importers,
      conflicts: merged?.conflicts.map((c) => `${c.reason}: ${c.message}`) ?? [],
      leftOut: report?.leftOut ?? [],
    },
    groups: [
      ...(exporting ? [{ title: 'Export', facts: exporting.facts }] : []),
      ...(imports && own
        ? [{ title: 'Import', facts: importFacts(input, own, imports, { merged, hinted }) }]
        : []),
    ],
    exportSummary: exporting?.summary,
    importSummary: imports && importSummary(input.name, imports, sources, report?.written),
    preview: membershipOf(cluster).imports === 'shadow' ? (report?.preview ?? []) : [],
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
  /** By family. */
  readonly hinted: ReadonlyMap<string, string> | undefined;
}

/** Returns the sources in the order of precedence. A silent source has its last known endpoints. */
function sourcesOf(
  input: SetInput,
  merged: MergedExports | undefined,
  report: ImportReport | undefined,
): ExplainedSources {
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
    const why = source.exported
      ? status.why
      : `${status.why}; its Service no longer selects pods, so its export will become invalid`;
    const ports = exposedPorts(source.exported?.service.spec?.ports, merged.spec.ports).map(
      (p) => `${p.name ? `${p.name} ` : ''}${p.port}/${p.protocol ?? 'TCP'}`,
    );
    return {
      cluster: source.record.id,
      state: status.state,
      why,
      ports: ports.join(', ') || 'none',
      ...(report?.written
        ? asWritten(
            { wanted: pods, pods: source.exported?.pods ?? [] },
            report.written.find((w) => w.cluster === source.record.id),
          )
        : asPlanned(pods)),
    };
  });
  const hinted = report?.written ? report.hinted && new Map(Object.entries(report.hinted)) : undefined;
  return { sources, hinted: report?.written ? hinted : preview.slices.hinted };
}

/** Of an import that no run has written. */
function asPlanned(pods: readonly SourcePod[]): Pick<SourceExplanation, 'addresses' | 'ready' | 'pods'> {
  const count = (place: SourcePod['place']): number =>
    pods.filter((p) => p.place === place).reduce((n, p) => n + p.addresses.length, 0);
  const ready = count('ready');
  return { addresses: ready + count('not ready'), ready, pods };
}
